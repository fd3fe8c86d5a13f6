"""The load engine: libcurl's multi interface in a process of its own, with no dependency on the rest.

Run as `python -m engine` in the folder above this one, so it works unchanged wherever this folder is copied.
stdin: the plan as one line of JSON; later a line "stop", or end-of-file, ends it within a second.
stdout, lines of JSON: {"started": t0}, {"progress": done, "of": n}, last {"done": facts, "samples": rows},
rows in the order of samples.COLUMNS; or {"error": [what, found, tip]} where the plan cannot be carried out.

    __main__ -> runner -> wire     libcurl on epoll or kqueue, and the owner's pipe
                       -> handles  requests, streams, kept connections, error classes
                       -> machine  limits, addresses, what the kernel counts

All times are seconds of the host's monotonic clock. A handle is added when its request is due, not before:
so its own clock starts at a moment we know, and libcurl's PRETRANSFER on top of it is when the request was
really sent (libcurl stamps it after the send: a process that loses its CPU in between stamps it late).
"""
