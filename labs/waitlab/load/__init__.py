"""Load: plans, the engine in a process of its own, samples, and whether a run may be shown."""
