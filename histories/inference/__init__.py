"""From a history to what can be played: lengths, inputs, failures, and the cluster it had."""
