// SPDX-License-Identifier: Apache-2.0
#include "core/cost/exchange.h"

#include "core/base/check.h"

#include <algorithm>

namespace weft::cost {
namespace {

/// Whole arrays go from device to device.
bool passes_whole(const Exchange& exchange) {
    return exchange.kind == "permute" || exchange.kind == "broadcast" ||
           exchange.kind == "send_recv";
}

} // namespace

std::int64_t sent_bytes(const Exchange& exchange) {
    if (exchange.devices <= 1 || passes_whole(exchange)) {
        return exchange.devices <= 1 ? 0 : exchange.array_bytes;
    }
    const std::int64_t ring = exchange.array_bytes * (exchange.devices - 1) / exchange.devices;
    return exchange.kind == "all_reduce" ? 2 * ring : ring;
}

std::int64_t messages(const Exchange& exchange) {
    if (exchange.devices <= 1 || passes_whole(exchange)) {
        return exchange.devices <= 1 ? 0 : 1;
    }
    return (exchange.kind == "all_reduce" ? 2 : 1) * (exchange.devices - 1);
}

double exchange_s(const Exchange& exchange, const Links& links) {
    WEFT_CHECK(links.bandwidth > 0, "links have a bandwidth");
    if (exchange.devices <= 1) {
        return 0;
    }
    const auto bytes = static_cast<double>(sent_bytes(exchange));
    const auto count = static_cast<double>(messages(exchange));
    const std::int64_t near =
        exchange.near == 0 ? exchange.devices : std::min(exchange.near, exchange.devices);
    if (near == exchange.devices) {
        return links.call_s + count * links.latency_s + bytes / links.bandwidth;
    }
    WEFT_CHECK(links.network_bandwidth > 0, "hosts are joined by a network");
    // Of n messages around a ring, one per host crosses the network; all wait for those that do.
    const double rate =
        std::min(links.bandwidth, links.network_bandwidth * static_cast<double>(near));
    const double crossing = count / static_cast<double>(near);
    return links.call_s + crossing * links.network_latency_s +
           (count - crossing) * links.latency_s + bytes / rate;
}

} // namespace weft::cost
