"""A mock of PyTorch with a card of known speed, for the tests of tools/measure_card.py.

Copied as ``torch/__init__.py`` to a folder of its own. Time on the card is counted, not measured:
100 TFLOPS, 1 TB/s, 2 us per tiny kernel (1 us in a graph), collectives at 100 GB/s. FAKE_CARDS is
the number of cards, FAKE_KIND is cuda or npu.
"""
import contextlib
import math
import multiprocessing as real
import os
from types import SimpleNamespace as Names

__version__ = "2.99"
sizes = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1, "uint8": 1, "float8_e4m3fn": 1}
float32, bfloat16, float16, int8, uint8, float8_e4m3fn = sizes
version, backends = Names(cuda="12.9", hip=None), Names(cuda=Names(matmul=Names()))
now = Names(host=0.0, card=0.0, recorded=None)


def work(seconds, in_graph=None):
    if now.recorded is not None:
        now.recorded.append(in_graph or seconds)
        return
    now.host += 1e-13
    now.card = max(now.card, now.host) + seconds


class Tensor:
    def __init__(self, *shape, dtype=float32, device="cpu", pin_memory=False, turned=False):
        self.shape = shape[0] if isinstance(shape[0], tuple) else shape
        self.dtype, self.device, self.turned = dtype, device, turned
        self.size = math.prod(self.shape) * sizes[dtype]
        self.clone = lambda: Tensor(self.shape, dtype=dtype, device=device, turned=turned)
        self.contiguous = lambda: Tensor(self.shape, dtype=dtype, device=device)
        self.to = lambda other: Tensor(self.shape, dtype=other, device=device)
        self.t = lambda: Tensor(self.shape[::-1], dtype=dtype, device=device, turned=not turned)
        self.add_ = lambda number: work(2e-6, in_graph=1e-6)

    def copy_(self, other, non_blocking=False):
        work(self.size * (2 if self.device == other.device else 40) / 1e12)


zeros = ones = randn = Tensor


def randint(low, high, shape, **kind):
    return Tensor(shape, **kind)


def mm(a, b):
    assert (a.shape[1], a.dtype) == (b.shape[0], b.dtype)
    work(2 * a.shape[0] * a.shape[1] * b.shape[1] / 1e14)


def _int_mm(a, b):
    if a.shape[0] <= 16:
        raise RuntimeError(f"self.size(0) needs to be greater than 16, but got {a.shape[0]}")
    assert a.dtype == int8
    mm(a, b)


def _scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None):
    assert b.turned, "mat2 must be column-major"
    assert (a.dtype, scale_a.dtype, scale_b.dtype) == (float8_e4m3fn, float32, float32)
    if scale_a.shape != (1,):  # by blocks: of 128 inputs of a row, of 128 by 128 weights
        assert scale_a.turned
        assert a.shape[0] >= 4, "CUBLAS_STATUS_NOT_SUPPORTED"
        assert scale_a.shape == (a.shape[0], -(-a.shape[1] // 128))
        assert scale_b.shape == (-(-b.shape[0] // 128), -(-b.shape[1] // 128))
    mm(a, b)


class Event:
    def __init__(self, enable_timing):
        self.query = lambda: self.at <= now.host
        self.elapsed_time = lambda end: (end.at - self.at) * 1e3

    def record(self):
        self.at = now.card = max(now.card, now.host)

    def synchronize(self):
        now.host = max(now.host, self.at)


class Graph:
    def __init__(self):
        self.replay = lambda: [work(seconds) for seconds in self.calls]


@contextlib.contextmanager
def capture(graph):
    now.recorded = graph.calls = []
    yield
    now.recorded = None


def card(kind, **graph):
    return Names(
        is_available=lambda: kind == os.environ.get("FAKE_KIND", "cuda"), Event=Event, **graph,
        device_count=lambda: int(os.environ.get("FAKE_CARDS", "1")), graph=capture,
        set_device=lambda index: None,
        get_device_name=lambda index: f"Fake {kind} card", empty_cache=lambda: None,
        get_device_capability=lambda index: (9, 0))


def exchange(size, share, latency):
    work(latency if size <= 1024 else share * size / 1e11)


def tensor(values, **kind):
    return Names(size=0, tolist=lambda: values)


cuda, npu = card("cuda", CUDAGraph=Graph), card("npu", NPUGraph=Graph)
multiprocessing = Names(get_context=real.get_context, spawn=lambda call, args, n: call(0, *args))
distributed = Names(
    init_process_group=lambda backend, **group: print("a library's noise", backend),
    barrier=lambda: None, destroy_process_group=lambda: None, ReduceOp=Names(MAX="max"),
    all_reduce=lambda values, op=None: exchange(values.size, 1, 2e-5),
    all_to_all_single=lambda taken, given: exchange(given.size, 1 / 2, 3e-5))
