// SPDX-License-Identifier: Apache-2.0
// Mean and deviation of numbers that come one at a time (Welford 1962), or in parts (Chan, Golub
// and LeVeque 1979).
#pragma once

#include <cmath>
#include <cstdint>

namespace weft::data {

/// What turns a number into a standardised one: (number - mean) / deviation.
struct Moments {
    double mean = 0;
    double deviation = 1;
};

class MomentsOf {
public:
    void add(double value) {
        ++count_;
        const double step = value - mean_;
        mean_ += step / static_cast<double>(count_);
        squares_ += step * (value - mean_);
    }
    void add(const MomentsOf& part) {
        if (part.count_ == 0) {
            return;
        }
        const auto own = static_cast<double>(count_);
        const auto other = static_cast<double>(part.count_);
        const double step = part.mean_ - mean_;
        count_ += part.count_;
        mean_ += step * (other / (own + other));
        squares_ += part.squares_ + step * step * (own * other / (own + other));
    }
    std::int64_t count() const { return count_; }
    /// Of the population; where nothing varies (but for rounding) the deviation is 1, so that it
    /// can divide.
    Moments moments() const {
        const double deviation = spread();
        return {mean_, deviation > 1e-12 * std::abs(mean_) ? deviation : 1};
    }
    double spread() const {
        return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
    }

private:
    std::int64_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

} // namespace weft::data
