"""YARN: a resource manager, a node manager a node, an application master a job."""
