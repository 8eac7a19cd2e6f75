"""A kubelet that only pretends: one process for all fake nodes, no images. Annotations of a pod say how it fares.

`hetero.test/seconds`, `/exit-code`, `/log` (lines), `/xcom` (JSON, what the XCom sidecar finds), `/pending-reason`
(such as `ImagePullBackOff`: it never starts); `/local: "true"` runs the command of each container as a process
of this machine instead, with the container's own environment. A node whose Ready condition is not True is silent until
it is.
"""
