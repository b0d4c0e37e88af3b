// SPDX-License-Identifier: Apache-2.0
// What this process's rank exchanges through, as other threads look at it and end it: it comes and
// goes while they do. Private to core/exec/ranks.
#pragma once

#include "core/exec/comm/own_exchanges.h"

#include <mutex>
#include <string>

namespace weft::exec {

class FollowedExchanges {
public:
    void follow(comm::OwnExchanges* own) {
        const std::lock_guard lock(mutex_);
        own_ = own;
    }
    /// Of what is followed; nowhere: nothing is.
    comm::RankPosition position() const {
        const std::lock_guard lock(mutex_);
        return own_ != nullptr ? own_->position() : comm::RankPosition{};
    }
    /// False: nothing is followed.
    bool abort(const std::string& reason) const {
        const std::lock_guard lock(mutex_);
        if (own_ != nullptr) {
            own_->abort(reason);
        }
        return own_ != nullptr;
    }

private:
    mutable std::mutex mutex_;
    comm::OwnExchanges* own_ = nullptr;
};

} // namespace weft::exec
