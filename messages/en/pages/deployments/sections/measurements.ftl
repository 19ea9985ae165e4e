### Predicted and measured: errors, pictures, every row, and what other tools predict.

prompt-tokens = prompt tokens
this-deployment-has-not-been = This deployment has not been measured.
# number: the intervals of all answers
bars-are-intervals-circled-points = Bars are 80% intervals; circled points are of rows in doubt.
# number: the intervals of all answers
bars-are-intervals = Bars are 80% intervals.
column = column
meaning-in-source = meaning in the source
what-columns-mean = What the columns mean
nothing-is-fitted-predictions-use = { $of }: { $text }. Nothing is fitted: predictions use only priors and each row's lengths and number of requests.
errors-after-calibration-on-rows = Errors after a calibration, on rows that it was not fitted to: [all errors](#validation).
prompts-of-tokens-have-too = Prompts of { $rest } tokens have too few rows for a line; they still count.
measured-time-per-output-token =
    The measured time per output token is { $low }{ $spans ->
        [yes] { " " }to { $high }
       *[no] { "" }
    } times the floor.
what-another-tool-predicts-of = What another tool predicts of it:
tool = tool
its-prediction-error = its prediction (error)
predicted-here-error = predicted here (error)
