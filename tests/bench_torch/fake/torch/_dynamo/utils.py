import collections

counters = collections.defaultdict(collections.Counter)
counters["nothing"] = collections.Counter()
