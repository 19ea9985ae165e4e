### Write the ``.ipynb`` of the parameterised notebooks: ``python -m notebooks.derive.sync``.

deployment = A deployment
device = A device
model = A model
document-claim-by-claim = A document, claim by claim
search-from-goal-to-best = Search: from a goal to the best deployment
start-and-watch-from-plan = Start and watch: from a plan to a service
sensitivity-which-inputs-decide = Sensitivity: which inputs decide
capacity-replicas-for-day-of = Capacity: replicas for a day of users
# number: the smallest and the largest system of the page
scaling-from-eight-to-cards = Scaling: from 8 to 384 cards
