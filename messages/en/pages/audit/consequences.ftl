### Which errors matter: by what becomes of who believes them, then by what hangs on them.

does-not-run = it does not run
wrong-decision = a wrong decision
wrong-number = a number that is off
