"""Load and engine benchmarks; `make bench` and `make bench-engine` run them."""
