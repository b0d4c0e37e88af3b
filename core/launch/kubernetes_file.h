// SPDX-License-Identifier: Apache-2.0
// Objects for `kubectl apply`: the run's secret, and a JobSet (jobset.x-k8s.io/v1alpha2), each rank
// a pod of its own, or an MPIJob (kubeflow.org/v2beta1), each host a pod.
#pragma once

#include "core/launch/request.h"

#include <string>

namespace weft::launch {

/// YAML documents. A pod that is started again goes on with what the run folder holds, which the
/// claim keeps. Throws weft::Error{usage} without an image.
std::string kubernetes_file(const LaunchRequest& request);

/// A name that Kubernetes takes for objects and hosts (RFC 1123), of at most 40 letters.
std::string kubernetes_name(const std::string& name);

} // namespace weft::launch
