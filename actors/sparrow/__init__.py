"""Sparrow's architecture (Ousterhout et al., SOSP 2013): many schedulers, queues on nodes."""
