// SPDX-License-Identifier: Apache-2.0
// What an exchange between devices sends and takes, by the ring algorithms (Patarasuk and Yuan
// 2009; Thakur, Rabenseifner and Gropp 2005): S bytes over n devices are cut into n parts, and each
// device passes on one part at a time.
#pragma once

#include <cstdint>
#include <string>

namespace weft::cost {

struct Exchange {
    std::string kind;             // "all_reduce"
    std::int64_t array_bytes = 0; // S: the whole array that is reduced, gathered or scattered
    std::int64_t devices = 1;     // n
    std::int64_t near = 0;        // of these on one host, joined by its links; 0: all
    double times = 1;             // executions per call of the program
};

/// How devices are joined. Rates are of one device in one direction, bytes/s.
struct Links {
    double bandwidth = 0;          // between devices of one host (a pod of TPUs)
    double latency_s = 0;          // of one message between them
    std::int64_t host_devices = 0; // so many are joined by these links; 0: all there are
    double network_bandwidth = 0;  // between hosts
    double network_latency_s = 0;
    double call_s = 0; // of beginning an exchange
};

/// By each device: all-reduce 2 S (n - 1) / n; all-gather, reduce-scatter and all-to-all
/// S (n - 1) / n; a permutation, a broadcast and a send S.
std::int64_t sent_bytes(const Exchange& exchange);
/// Messages that each device sends one after the other.
std::int64_t messages(const Exchange& exchange);

/// Seconds of one execution. A ring over several hosts crosses between them at the rate of the
/// network times the members of a host, each of which has its own way out, and never faster than
/// within a host.
double exchange_s(const Exchange& exchange, const Links& links);

} // namespace weft::cost
