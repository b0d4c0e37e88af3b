// SPDX-License-Identifier: Apache-2.0
#include "core/nn/set_score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::nn {
namespace {

constexpr float kHalf = 0.5F;

double mean_of_known(double sum, std::int64_t known) {
    return known > 0 ? sum / static_cast<double>(known) : std::numeric_limits<double>::quiet_NaN();
}

class MacroF1 : public SetScore {
public:
    explicit MacroF1(const ScoredTargets& targets)
        : of_classes_(targets.classes > 0),
          counts_(static_cast<std::size_t>(of_classes_ ? targets.classes : targets.values)) {}

    void add(std::span<const float> row) override {
        if (of_classes_) {
            ++counts_.at(static_cast<std::size_t>(row[0])).found;
            ++counts_.at(static_cast<std::size_t>(row[1])).real;
            counts_.at(static_cast<std::size_t>(row[1])).both += row[0] == row[1] ? 1 : 0;
            return;
        }
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const bool found = row[i] > kHalf;
            const bool real = row[counts_.size() + i] > kHalf;
            counts_[i].found += found ? 1 : 0;
            counts_[i].real += real ? 1 : 0;
            counts_[i].both += found && real ? 1 : 0;
        }
    }

    double value() const override {
        double sum = 0;
        std::int64_t known = 0;
        for (const Counts& counts : counts_) {
            if (counts.found + counts.real > 0) {
                sum += 2 * static_cast<double>(counts.both) /
                       static_cast<double>(counts.found + counts.real);
                ++known;
            }
        }
        return mean_of_known(sum, known);
    }

private:
    struct Counts {
        std::int64_t found = 0, real = 0, both = 0;
    };
    bool of_classes_;
    std::vector<Counts> counts_;
};

class Auroc : public SetScore {
public:
    explicit Auroc(const ScoredTargets& targets)
        : of_classes_(targets.classes > 0), values_(static_cast<std::size_t>(targets.values)),
          scores_(values_) {}

    void add(std::span<const float> row) override {
        for (std::size_t i = 0; i < values_; ++i) {
            const bool real =
                of_classes_ ? row[values_] == static_cast<float>(i) : row[values_ + i] > kHalf;
            scores_[i].push_back({row[i], real});
            unknown_ = unknown_ || std::isnan(row[i]);
        }
    }

    double value() const override {
        double sum = 0;
        std::int64_t known = 0;
        for (const std::vector<Score>& scores : scores_) {
            const double own = unknown_ ? std::numeric_limits<double>::quiet_NaN() : area(scores);
            sum += std::isnan(own) ? 0 : own;
            known += std::isnan(own) ? 0 : 1;
        }
        return mean_of_known(sum, known);
    }

private:
    struct Score {
        float score;
        bool real;
    };

    /// From the lowest score up: each one that is there is above those before it that are not.
    static double area(std::vector<Score> scores) {
        std::sort(scores.begin(), scores.end(),
                  [](const Score& a, const Score& b) { return a.score < b.score; });
        double below = 0; // not there, so far
        double there = 0;
        double pairs = 0;
        for (std::size_t first = 0; first < scores.size();) {
            double real = 0;
            std::size_t end = first;
            while (end < scores.size() && scores[end].score == scores[first].score) {
                real += scores[end++].real ? 1 : 0;
            }
            const double others = static_cast<double>(end - first) - real;
            pairs += real * (below + others / 2);
            below += others;
            there += real;
            first = end;
        }
        return there * below > 0 ? pairs / (there * below)
                                 : std::numeric_limits<double>::quiet_NaN();
    }

    bool of_classes_;
    std::size_t values_;
    std::vector<std::vector<Score>> scores_;
    bool unknown_ = false;
};

class Calibration : public SetScore {
public:
    void add(std::span<const float> row) override {
        const auto confidence = static_cast<double>(row[0]);
        unknown_ = unknown_ || std::isnan(confidence);
        if (unknown_) {
            return;
        }
        // Bin i holds what is above i / 15, up to (i + 1) / 15.
        const double place = std::ceil(confidence * static_cast<double>(bins_.size())) - 1;
        Bin& bin = bins_.at(static_cast<std::size_t>(
            std::clamp(place, 0.0, static_cast<double>(bins_.size() - 1))));
        bin.confidence += confidence;
        bin.real += static_cast<double>(row[1]);
        ++terms_;
    }

    double value() const override {
        if (terms_ == 0 || unknown_) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        double apart = 0;
        for (const Bin& bin : bins_) {
            apart += std::abs(bin.confidence - bin.real);
        }
        return apart / static_cast<double>(terms_);
    }

private:
    struct Bin {
        double confidence = 0, real = 0;
    };
    std::array<Bin, 15> bins_{};
    std::int64_t terms_ = 0;
    bool unknown_ = false;
};

class Nearest : public SetScore {
public:
    explicit Nearest(const ScoredTargets& targets)
        : values_(static_cast<std::size_t>(targets.values)) {}

    void add(std::span<const float> row) override {
        if (labels_.size() == kMostPoints) {
            return;
        }
        double squares = 0;
        for (std::size_t k = 0; k < values_; ++k) {
            squares += static_cast<double>(row[k]) * static_cast<double>(row[k]);
        }
        unknown_ = unknown_ || std::isnan(squares);
        const double inverse = squares > 0 ? 1.0 / std::sqrt(squares) : 0.0;
        for (std::size_t k = 0; k < values_; ++k) {
            points_.push_back(static_cast<float>(static_cast<double>(row[k]) * inverse));
        }
        labels_.push_back(row[values_]);
    }

    double value() const override {
        const std::size_t n = labels_.size();
        if (n < 2 || unknown_) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        std::vector<float> by_number(points_.size()); // [values, n]
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < values_; ++k) {
                by_number[k * n + i] = points_[i * values_ + k];
            }
        }
        std::int64_t right = 0;
        std::vector<float> cosines(n);
        for (std::size_t i = 0; i < n; ++i) {
            std::fill(cosines.begin(), cosines.end(), 0.0F);
            for (std::size_t k = 0; k < values_; ++k) {
                const float own = points_[i * values_ + k];
                const float* others = by_number.data() + k * n;
                for (std::size_t j = 0; j < n; ++j) {
                    cosines[j] += own * others[j];
                }
            }
            cosines[i] = -std::numeric_limits<float>::infinity();
            const auto nearest = static_cast<std::size_t>(
                std::max_element(cosines.begin(), cosines.end()) - cosines.begin());
            right += labels_[nearest] == labels_[i] ? 1 : 0;
        }
        return static_cast<double>(right) / static_cast<double>(n);
    }

private:
    static constexpr std::size_t kMostPoints = 16384;
    std::size_t values_;
    std::vector<float> points_; // [n, values], of length 1
    std::vector<float> labels_;
    bool unknown_ = false;
};

} // namespace

std::unique_ptr<SetScore> score_macro_f1(const ScoredTargets& targets) {
    return std::make_unique<MacroF1>(targets);
}

std::unique_ptr<SetScore> score_auroc(const ScoredTargets& targets) {
    return std::make_unique<Auroc>(targets);
}

std::unique_ptr<SetScore> score_calibration(const ScoredTargets&) {
    return std::make_unique<Calibration>();
}

std::unique_ptr<SetScore> score_nearest(const ScoredTargets& targets) {
    return std::make_unique<Nearest>(targets);
}

} // namespace weft::nn
