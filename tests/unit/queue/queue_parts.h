// SPDX-License-Identifier: Apache-2.0
// Entries for tests.
#pragma once

#include "core/queue/book.h"

namespace weft::test {

inline queue::Entry waiting_entry(std::int64_t id, const std::string& devices = "cpu") {
    queue::Entry entry;
    entry.id = id;
    entry.name = "run-" + std::to_string(id);
    entry.devices = devices;
    return entry;
}

inline queue::Entry running_entry(std::int64_t id, const std::string& devices = "cpu",
                                  std::vector<int> gpus = {}) {
    queue::Entry entry = waiting_entry(id, devices);
    entry.state = queue::State::running;
    entry.gpus = std::move(gpus);
    return entry;
}

} // namespace weft::test
