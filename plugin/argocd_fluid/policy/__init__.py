"""Pure: the policy of a workload, from `fluid.yaml`, plugin parameters and annotations."""
