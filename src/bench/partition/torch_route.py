"""The Torch route of `recount bench`: one case through torch.compile, timed under the protocol of the native route.

    python torch_route.py FIXTURE_DIR OUT_DIR SETTINGS_JSON

FIXTURE_DIR holds manifest.json and the files that it names. SETTINGS_JSON is an object with operations_per_graph,
warm_up_ms, sample_target_ms, samples, replay_cap and operation_cap. OUT_DIR gets compiled-output.EXT (the last output, as
stored), inductor-cache/ (which must not be there: a warm cache would make the cold times untrue) and, last and whole,
result.json: {"status": "passed", ...} with exit status 0, or {"status": "failed", "error": ..., "traceback": ...} with 1.
Times are in milliseconds unless a name says otherwise. Nothing is printed to standard output. Needs Python 3.9 and torch.
"""

import array
import ctypes
import hashlib
import json
import math
import os
import signal
import statistics
import sys
import time
import traceback

PROTOCOL = "adaptive_replay_span_v2"
MODE = "max-autotune-no-cudagraphs"
ORACLE = "all outputs against the exported binary64 results, each within its exported bound"
# A calibration span of this part of the target ends the calibration.
CLOSE_ENOUGH = 0.8
# Replays between two synchronisations of the warm-up, so that no more are counted than have run.
WARM_UP_REPLAYS = 16
# Calls before the capture: the first ones load modules, which a capture forbids.
CALLS_BEFORE_CAPTURE = 3


def row_sum(x):
    return x.float().sum(dim=1, keepdim=True).to(x.dtype)


def row_max(x):
    return x.amax(dim=1, keepdim=True)


# The function of each operation, and how it reads. Sums accumulate in FP32: the input is widened first.
FUNCTIONS = {
    "reduce_sum": (row_sum, "x.float().sum(dim=1, keepdim=True).to(x.dtype)"),
    "reduce_max": (row_max, "x.amax(dim=1, keepdim=True)"),
}


class Failure(Exception):
    """Something that the protocol forbids."""


def end_with_parent():
    """Where the system can: what measures must not go on beside a campaign that is taken up again."""
    if sys.platform != "linux":
        return
    try:
        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def main(fixture, out, settings):
    # The caller decides what an interrupt from the terminal means, and ends this process with itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    # Whatever libraries print belongs into the caller's log.
    os.dup2(2, 1)
    try:
        result = run(Case(fixture), out, Settings(json.loads(settings)))
    except Exception as error:  # the caller reports it
        lines = str(error).splitlines() or [""]
        result = {
            "status": "failed",
            "error": "%s: %s" % (type(error).__name__, lines[0]),
            "traceback": traceback.format_exc(),
        }
    text = json.dumps(result, indent=1, allow_nan=False)
    write(out, "result.json", text.encode("utf-8"))
    return 0 if result["status"] == "passed" else 1


class Settings:
    """The protocol's numbers."""

    def __init__(self, members):
        self.operations = positive(members, "operations_per_graph", int)
        self.warm_up_ms = positive(members, "warm_up_ms", float)
        self.target_ms = positive(members, "sample_target_ms", float)
        self.samples = positive(members, "samples", int)
        self.replay_cap = positive(members, "replay_cap", int)
        self.operation_cap = positive(members, "operation_cap", int)
        self.cap = min(self.replay_cap, self.operation_cap // self.operations)
        if self.cap < 1:
            raise Failure("operation_cap %d is less than one graph" % self.operation_cap)


def positive(members, name, kind):
    value = members.get(name)
    number = isinstance(value, (int, kind)) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        raise Failure("the setting %s is %r, not a positive number" % (name, value))
    return kind(value)


class Case:
    """A fixture as its folder has it."""

    def __init__(self, folder):
        manifest = json.loads(read(folder, "manifest.json").decode("utf-8"))
        self.operation = manifest["operation"]
        (tensor,) = manifest["inputs"]
        self.rows, self.columns = tensor["shape"]
        self.dtype = tensor["storage_dtype"]
        self.input = read(folder, tensor["path"])
        self.expected = doubles(read(folder, manifest["expected"]["path"]))
        self.bound = doubles(read(folder, manifest["expected"]["bound_path"]))
        if not len(self.expected) == len(self.bound) == self.rows:
            counts = (self.rows, len(self.expected), len(self.bound))
            raise Failure("the fixture has %d rows, %d expected results and %d bounds" % counts)
        self.output_path = "compiled-" + manifest["output"]["path"]

    def check(self, output):
        """How the values of a tensor compare with what is expected. A NaN is right where one is expected."""
        values = doubles(raw_bytes(output.double()))
        failed, worst = 0, 0.0
        for value, expected, bound in zip(values, self.expected, self.bound):
            if math.isnan(expected):
                error = 0.0 if math.isnan(value) else math.inf
            else:
                error = math.inf if math.isnan(value) else abs(value - expected)
            failed += not error <= bound
            worst = max(worst, error)
        if failed or len(values) != self.rows:
            found = (failed, len(values), self.rows, worst, max(self.bound))
            raise Failure("wrong output: %d of %d elements (of %d), largest error %r, largest bound %r" % found)
        return {
            "elements": len(values),
            "failed_elements": failed,
            "max_abs_error": worst,
            "max_allowed_bound": max(self.bound),
            "oracle": ORACLE,
        }


def run(case, out, settings):
    cache = os.path.join(out, "inductor-cache")
    if os.path.exists(cache):
        raise Failure("inductor-cache is there already; a cold compilation needs a new folder")
    os.makedirs(cache)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.abspath(cache)
    # A pool of compiler processes takes longer to start than the few kernels of a case take to compile.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.path.abspath(cache), "triton")
    cold = {}

    clock = Clock()
    import torch
    import torch._dynamo
    import torch._inductor.metrics
    from torch._dynamo.utils import counters

    cold["import_ms"] = clock.ms()
    if not torch.cuda.is_available():
        raise Failure("torch %s sees no CUDA device" % torch.__version__)

    clock = Clock()
    data = bytearray(case.input)
    host = torch.frombuffer(data, dtype=getattr(torch, case.dtype)).reshape(case.rows, case.columns)
    x = host.cuda()
    torch.cuda.synchronize()
    cold["upload_ms"] = clock.ms()

    torch._dynamo.config.suppress_errors = False
    function, text = FUNCTIONS[case.operation]
    clock = Clock()
    compiled = torch.compile(function, fullgraph=True, mode=MODE)
    output = compiled(x)
    torch.cuda.synchronize()
    cold["cold_compile_first_call_ms"] = clock.ms()
    if tuple(output.shape) != (case.rows, 1) or output.dtype != x.dtype:
        raise Failure("the output is %s of %s" % (tuple(output.shape), output.dtype))
    before = case.check(output)

    clock = Clock()
    graph, output = capture(torch, lambda: compiled(x), settings.operations)
    cold["graph_build_ms"] = clock.ms()

    # What is checked after the timing must have been written by it.
    output.fill_(math.nan)
    torch.cuda.synchronize()
    timed = measure(torch, graph, settings)
    after = case.check(output)
    if raw_bytes(x) != case.input:
        raise Failure("the input has changed")
    write(out, case.output_path, raw_bytes(output))
    return {
        "status": "passed",
        **timed,
        "recorded_correctness": {"compiled_correctness_before": before, "compiled_correctness_after": after},
        "cold_ms": cold,
        "compiler_evidence": {
            "backend": "inductor",
            "mode": MODE,
            "function": text,
            "fullgraph": True,
            "suppress_errors": torch._dynamo.config.suppress_errors,
            "counters": {
                str(name): {str(key): int(count) for key, count in counts.items()}
                for name, counts in counters.items()
                if counts
            },
            "generated_kernel_count": torch._inductor.metrics.generated_kernel_count,
            "artifacts": artifacts(out),
            "torch_version": str(torch.__version__),
            "triton_version": triton_version(),
            "cuda_version": torch.version.cuda,
        },
    }


def capture(torch, call, operations):
    """A graph of so many calls, whose outputs Torch allocates, and the output of the last."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(CALLS_BEFORE_CAPTURE):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(operations):
            output = call()
    torch.cuda.synchronize()
    return graph, output


def measure(torch, graph, settings):
    """Prime, warm-up, calibration and samples, in the form of the published package."""

    def span(replays):
        """What the device's events say, and the host's clock around them."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        clock = Clock()
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        end.synchronize()
        host = clock.ms()
        event = begin.elapsed_time(end)
        if not event > 0:
            raise Failure("the device's events are %r ms apart" % event)
        return event, host

    prime_event, prime_host = span(1)
    warm_up = {"target_ms": settings.warm_up_ms, "actual_ms": 0.0, "replays": 0}
    clock = Clock()
    while warm_up["actual_ms"] < settings.warm_up_ms:
        for _ in range(WARM_UP_REPLAYS):
            graph.replay()
        torch.cuda.synchronize()
        warm_up["replays"] += WARM_UP_REPLAYS
        warm_up["actual_ms"] = clock.ms()

    calibration, replays, reached = [], 1, False
    while True:
        event, host = span(replays)
        calibration.append({"replays": replays, "event_span_ms": event, "host_wall_ms": host})
        reached = event >= CLOSE_ENOUGH * settings.target_ms
        if reached or replays == settings.cap:
            break
        replays = min(math.ceil(settings.target_ms / event * replays), settings.cap)

    spans = [span(replays) for _ in range(settings.samples)]
    events, hosts = [event for event, _ in spans], [host for _, host in spans]
    operations = replays * settings.operations
    return {
        # In this order of operations, so that a reader gets the same bits.
        "event_us": samples([event * 1000.0 / operations for event in events]),
        "sampling": {
            "protocol": PROTOCOL,
            "replays_per_sample": replays,
            "operations_per_sample": operations,
            "sample_target_ms": settings.target_ms,
            "replay_cap": settings.replay_cap,
            "operation_cap": settings.operation_cap,
            "calibration": calibration,
            "calibration_target_reached": reached,
            "event_span_ms": samples(events),
            "host_span_ms": samples(hosts),
            "prime_event_ms": prime_event,
            "prime_host_ms": prime_host,
            # Into how many kernels the compiler made one operation is not counted.
            "kernel_stage_dispatches_per_sample": None,
        },
        "warmup": warm_up,
    }


def samples(values):
    return {"samples": values, "p50": statistics.median(values)}


class Clock:
    """The host's time since it was made."""

    def __init__(self):
        self.begin = time.perf_counter_ns()

    def ms(self):
        return (time.perf_counter_ns() - self.begin) / 1e6


def artifacts(out):
    """What the compiler wrote as source: receipts of the Python files in its cache, in the order of their names."""
    found = []
    for folder, _, names in os.walk(os.path.join(out, "inductor-cache")):
        for name in names:
            if name.endswith(".py"):
                path = os.path.relpath(os.path.join(folder, name), out).replace(os.sep, "/")
                content = read(out, path)
                found.append({"path": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})
    return sorted(found, key=lambda receipt: receipt["path"])


def triton_version():
    try:
        import triton

        return str(triton.__version__)
    except ImportError:
        return None


def raw_bytes(tensor):
    """The values of a tensor as bytes, without NumPy."""
    host = tensor.cpu().contiguous()
    return ctypes.string_at(host.data_ptr(), host.numel() * host.element_size())


def doubles(data):
    values = array.array("d")
    values.frombytes(data)
    return values


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def write(folder, name, data):
    """The whole file or none."""
    path = os.path.join(folder, name)
    with open(path + ".partial", "wb") as file:
        file.write(data)
    os.replace(path + ".partial", path)


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stderr.flush()
    # The result is written: nothing that an orderly end of torch would do is needed.
    os._exit(status)
