"""A stand-in for PyTorch with a card of known speed, for the tests of tools/measure_card.py.

Copied as ``torch/__init__.py`` to a folder of its own. Time on the card is counted, not measured:
100 TFLOPS, 1 TB/s, 2 us per tiny kernel (1 us in a graph), collectives at 100 GB/s. FAKE_CARDS,
FAKE_KIND (cuda or npu), FAKE_MEMORY (largest tensor in bytes), FAKE_HOST (seconds per operator),
FAKE_NO_GRAPH and FAKE_LOST (payload at which a rank is lost) say what kind of card it is.
"""
import contextlib
import math
import multiprocessing as real
import os
from functools import partial
from types import SimpleNamespace as Names

__version__ = "2.99"
clock = {"host": 0.0, "card": 0.0}
recording = None
sizes = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1, "uint8": 1, "float8_e4m3fn": 1}
float32, bfloat16, float16, int8, uint8, float8_e4m3fn = sizes
version = Names(cuda="12.9", hip=None)
backends = Names(cuda=Names(matmul=Names(allow_tf32=None)))


def work(seconds, in_graph=None):
    if recording is not None:
        recording.append(seconds if in_graph is None else in_graph)
        return
    clock["host"] += float(os.environ.get("FAKE_HOST", "1e-8"))
    clock["card"] = max(clock["card"], clock["host"]) + seconds


class Tensor:
    def __init__(self, *shape, dtype=float32, device="cpu", pin_memory=False, turned=False):
        self.shape = shape[0] if isinstance(shape[0], tuple) else shape
        self.dtype, self.device, self.pinned, self.turned = dtype, device, pin_memory, turned
        self.size = math.prod(self.shape) * sizes[dtype]
        if self.size > float(os.environ.get("FAKE_MEMORY", "inf")):
            raise RuntimeError("CUDA out of memory. Tried to allocate more than there is.")

    def like(self, **other):
        return Tensor(self.shape, **{"dtype": self.dtype, "device": self.device, **other})

    def t(self):
        return Tensor(self.shape[::-1], dtype=self.dtype, device=self.device,
                      turned=not self.turned)

    def to(self, dtype):
        return self.like(dtype=dtype)

    def clone(self):
        return self.like(turned=self.turned)

    def contiguous(self):
        return self.like()

    def add_(self, _):
        work(2e-6, in_graph=1e-6)

    def copy_(self, other, non_blocking=False):
        assert self.device != other.device or "cpu" not in self.device, (self, other)
        work(self.size * (2 if self.device == other.device else 40) / 1e12)


zeros = ones = randn = Tensor


def randint(low, high, shape, **kind):
    return Tensor(shape, **kind)


def mm(a, b):
    assert a.shape[1] == b.shape[0], "shapes do not match"
    assert a.dtype == b.dtype
    work(2 * a.shape[0] * a.shape[1] * b.shape[1] / 1e14)


def _int_mm(a, b):
    if a.shape[0] <= 16:
        raise RuntimeError(f"self.size(0) needs to be greater than 16, but got {a.shape[0]}")
    assert a.dtype == int8
    mm(a, b)


def _scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None):
    assert b.turned, "mat2 must be column-major"
    assert a.dtype == float8_e4m3fn
    assert scale_a.dtype == scale_b.dtype == float32
    mm(a, b)


class Event:
    def __init__(self, enable_timing):
        self.at = None

    def record(self):
        self.at = clock["card"] = max(clock["card"], clock["host"])

    def query(self):
        return self.at <= clock["host"]

    def synchronize(self):
        clock["host"] = max(clock["host"], self.at)

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3


class Graph:
    def __init__(self):
        if "FAKE_NO_GRAPH" in os.environ:
            raise RuntimeError("capture is not supported")

    def replay(self):
        for seconds in self.calls:
            work(seconds)


@contextlib.contextmanager
def capture(graph):
    global recording
    recording = graph.calls = []
    yield
    recording = None


def card(kind, **graph):
    return Names(
        is_available=lambda: kind == os.environ.get("FAKE_KIND", "cuda"), Event=Event,
        device_count=lambda: int(os.environ.get("FAKE_CARDS", "1")), set_device=lambda index: None,
        get_device_name=lambda index: f"Fake {kind} card", graph=capture,
        get_device_capability=lambda index: (9, 0), empty_cache=lambda: None, **graph)


def all_reduce(tensor, op=None):
    if "lost" in clock and op is None and tensor.size >= clock["lost"]:
        raise RuntimeError("\n-- Process 1 terminated:\nTraceback (most recent call last):\nlost")
    work(2e-5 if tensor.size <= 1024 else tensor.size / 1e11)


def all_to_all_single(taken, given):
    work(3e-5 if given.size <= 1024 else given.size / 2 / 1e11)


def tensor(values, **kind):
    made = Tensor(len(values), **kind)
    made.tolist = lambda: values
    return made


cuda, npu = card("cuda", CUDAGraph=Graph), card("npu", NPUGraph=Graph)
clock.update({"lost": float(os.environ["FAKE_LOST"])} if "FAKE_LOST" in os.environ else {})
distributed = Names(
    init_process_group=lambda backend, init_method, rank, world_size: print("noise", backend),
    barrier=lambda: None, all_reduce=all_reduce, all_to_all_single=all_to_all_single,
    ReduceOp=Names(MAX="max"), destroy_process_group=lambda: None)
multiprocessing = Names(get_context=real.get_context,
                        spawn=lambda call, args, nprocs: partial(call, 0)(*args))
