"""What all tests share: Ctrl-C means what it means to a reader, also where a shell started them in the background."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
