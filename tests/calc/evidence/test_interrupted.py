"""What is computed side by side ends when it is interrupted, whoever waits for an answer."""

import signal
import threading

import pytest

from calc.evidence.fitting import side_by_side


def test_an_interrupt_between_two_answers_leaves_nobody_waiting():
    def asking(ask):
        return ask(1)

    def interrupting(ask):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return ask(2)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            side_by_side([asking, interrupting, asking], list)
    finally:
        signal.signal(signal.SIGINT, before)
    for each in threading.enumerate():
        if each.name.startswith("ThreadPoolExecutor"):
            each.join()  # the suite's own limit ends the wait
