// SPDX-License-Identifier: Apache-2.0
#include "core/train/audit/audit.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/checkpoint.h"
#include "core/data/formats/format.h"
#include "core/train/audit/label_scores.h"
#include "core/train/audit/near_pairs.h"
#include "core/train/audit/sample_features.h"
#include "core/train/program_io.h"
#include "core/train/record/run_folder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <unordered_map>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using data::Source;

constexpr double kHardShare = 0.01;    // of the samples, by mean loss
constexpr std::size_t kNeighbours = 8; // that are looked at of each sample
constexpr double kLeastCosine = 0.9;   // of features, to be looked at
constexpr std::size_t kMostTwins = 8;  // kept of each sample

struct Stopped {};

/// Samples of a part that are looked at.
struct Rows {
    std::string part;
    const Source* source = nullptr;
    std::vector<std::int64_t> rows; // in the source
};

Rows rows_of(std::string part, const std::shared_ptr<const Source>& source, std::int64_t most) {
    Rows out{std::move(part), source.get(), {}};
    const std::int64_t all = source == nullptr ? 0 : source->samples();
    const std::int64_t count = std::min(all, most);
    for (std::int64_t i = 0; i < count; ++i) {
        out.rows.push_back(i * all / count);
    }
    return out;
}

bool has_class_each(const data::SampleInfo& info) {
    return info.classes > 0 && info.target.shape.rank() == 0;
}

/// What the network says of samples, row by row.
class Sayings {
public:
    Sayings(exec::Executor& executor, const Source& source)
        : executor_(executor), source_(source),
          port_(find_result(executor, "predict", "prediction")) {
        const data::SampleInfo& info = source.info();
        const bool numbers = info.classes == 0 && info.target.dtype == ir::DType::f32;
        if (executor.plan().all_stages("predict").empty() || port_ == nullptr ||
            port_->operand.type.dtype != ir::DType::f32 || !(has_class_each(info) || numbers)) {
            throw Error(ErrorKind::usage, "audit",
                        "samples of these data have neither a class nor numbers that this model "
                        "predicts",
                        "Text, boards and models that make samples are not audited. weft data "
                        "inspect finds samples that are there twice.");
        }
        rows_ = find_argument(executor, "predict", "inputs")->whole.shape[0];
        width_ = static_cast<std::size_t>(port_->whole.shape.elements() / port_->whole.shape[0]);
        // One number for two classes: the probability of the second.
        pairs_ = info.classes == 2 && width_ == 1;
        if (has_class_each(info) && !pairs_ && width_ != static_cast<std::size_t>(info.classes)) {
            throw Error(ErrorKind::usage, "audit",
                        "the model says " + std::to_string(width_) +
                            " numbers of a sample, and "
                            "there are " +
                            std::to_string(info.classes) + " classes",
                        "Audit a run whose model gives each class a probability.");
        }
    }

    std::int64_t batch() const { return rows_; }
    std::size_t width() const { return pairs_ ? 2 : width_; }

    /// Calls `take(place, what it says, input)` of rows [first, first + batch); a damaged sample is
    /// passed over.
    template <class Take>
    void say(std::span<const std::int64_t> rows, const Take& take) {
        const auto bytes = static_cast<std::size_t>(source_.info().input.bytes());
        inputs_.assign(static_cast<std::size_t>(rows_) * bytes, std::byte{0});
        std::vector<bool> damaged(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            try {
                source_.read(rows[i], std::span(inputs_).subspan(i * bytes, bytes), {});
            } catch (const data::DamagedSample&) {
                damaged[i] = true;
            }
        }
        write_argument(executor_, "predict", "inputs", inputs_);
        executor_.run("predict");
        const std::span<const std::byte> said = executor_.read("predict", "prediction");
        std::vector<float> row(width_);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (damaged[i]) {
                continue;
            }
            std::memcpy(row.data(), said.data() + i * width_ * sizeof(float),
                        width_ * sizeof(float));
            const std::vector<float> both = pairs_ ? std::vector{1 - row[0], row[0]} : row;
            take(i, std::span<const float>(both),
                 std::span<const std::byte>(inputs_).subspan(i * bytes, bytes));
        }
    }

private:
    exec::Executor& executor_;
    const Source& source_;
    const plan::PlannedPort* port_;
    std::int64_t rows_ = 0;
    std::size_t width_ = 0;
    bool pairs_ = false;
    std::vector<std::byte> inputs_;
};

/// Rows of equal width.
struct Looks {
    std::vector<float> rows;
    std::int64_t width = 0;

    void add(const std::vector<float>& row) {
        width = std::ssize(row);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    std::span<const float> row(std::size_t at) const {
        const auto w = static_cast<std::size_t>(width);
        return std::span(rows).subspan(at * w, w);
    }
};

/// Over all checkpoints, by place in the training rows that are looked at.
struct Scores {
    std::vector<std::vector<float>> losses; // [checkpoint][row]; NaN: damaged
    std::vector<float> said;                // [row, width], the mean over checkpoints
    std::vector<double> margins;            // [row], the mean; empty without classes
    std::vector<std::int32_t> labels;       // [row]
};

double squared_error(std::span<const float> said, std::span<const float> target) {
    double sum = 0;
    for (std::size_t k = 0; k < said.size(); ++k) {
        const double off = static_cast<double>(said[k]) - static_cast<double>(target[k]);
        sum += off * off;
    }
    return sum / static_cast<double>(said.size());
}

class Auditor {
public:
    Auditor(const std::vector<fs::path>& checkpoints, const AuditOptions& options)
        : options_(options), checkpoints_(checkpoints) {}

    Audit run() {
        tell("loading", 0);
        model_ = load_model(checkpoints_.front(), nullptr, options_.threads);
        train_ = rows_of("train", model_.data.train, options_.most_samples);
        out_.samples = std::ssize(train_.rows);
        out_.all_samples = train_.source->samples();
        out_.has_classes = has_class_each(info());
        out_.class_names = info().class_names;
        note_limits();
        score();
        judge_labels();
        if (options_.finds_twins) {
            find_twins();
        }
        collect();
        return std::move(out_);
    }

private:
    const data::SampleInfo& info() const { return train_.source->info(); }

    void tell(const std::string& phase, double share) const {
        if (options_.stop.stop_requested()) {
            throw Stopped();
        }
        if (options_.told) {
            options_.told(phase, share);
        }
    }

    void note_limits() {
        if (out_.samples < out_.all_samples) {
            out_.notes.push_back("of " + format_thousands(out_.all_samples) + " samples " +
                                 format_thousands(out_.samples) + " from all over were looked at");
        }
        if (checkpoints_.size() == 1) {
            out_.notes.emplace_back("one checkpoint says less than several: a network that has "
                                    "learnt its samples by heart believes wrong labels, too");
        }
        if (!out_.has_classes) {
            out_.notes.emplace_back("samples without a class are judged by their error alone");
        }
    }

    void score() {
        Sayings sayings(*model_.executor, *train_.source);
        const std::size_t n = train_.rows.size();
        const std::size_t width = sayings.width();
        scores_.said.resize(n * width);
        scores_.margins.resize(out_.has_classes ? n : 0);
        for (const std::int64_t row : train_.rows) {
            scores_.labels.push_back(train_.source->label(row));
        }
        const auto shares = static_cast<double>(checkpoints_.size());
        for (std::size_t k = 0; k < checkpoints_.size(); ++k) {
            const checkpoint::Manifest manifest = checkpoint::read_manifest(checkpoints_[k]);
            restore_tensors(*model_.executor, manifest, Missing::keeps_init);
            out_.checkpoints.push_back(manifest.record.step);
            std::vector<float>& losses =
                scores_.losses.emplace_back(n, std::numeric_limits<float>::quiet_NaN());
            const auto batch = static_cast<std::size_t>(sayings.batch());
            for (std::size_t first = 0; first < n; first += batch) {
                tell("reading samples", (static_cast<double>(k) +
                                         static_cast<double>(first) / static_cast<double>(n)) /
                                            shares);
                const std::size_t count = std::min(batch, n - first);
                sayings.say(std::span(train_.rows).subspan(first, count),
                            [&](std::size_t i, std::span<const float> said, auto) {
                                add_saying(first + i, said, losses);
                            });
            }
        }
        const auto damaged = std::count_if(scores_.losses[0].begin(), scores_.losses[0].end(),
                                           [](float loss) { return std::isnan(loss); });
        if (damaged > 0) {
            out_.notes.push_back(std::to_string(damaged) +
                                 " damaged samples or samples without a label were passed over");
        }
    }

    void add_saying(std::size_t at, std::span<const float> said, std::vector<float>& losses) {
        const auto share = static_cast<float>(checkpoints_.size());
        for (std::size_t j = 0; j < said.size(); ++j) {
            scores_.said[at * said.size() + j] += said[j] / share;
        }
        if (!out_.has_classes) {
            losses[at] = static_cast<float>(squared_error(said, target_of(at)));
        } else if (const std::int32_t label = scores_.labels[at]; label >= 0) {
            losses[at] = static_cast<float>(loss_of(said, label));
            scores_.margins[at] += margin_of(said, label) / static_cast<double>(share);
        }
    }

    std::vector<float> target_of(std::size_t at) const {
        std::vector<std::byte> input(static_cast<std::size_t>(info().input.bytes()));
        std::vector<float> target(static_cast<std::size_t>(info().target.shape.elements()));
        train_.source->read(train_.rows[at], input, std::as_writable_bytes(std::span(target)));
        return target;
    }

    void judge_labels() {
        if (out_.has_classes) {
            believed_ = confident_labels(scores_.said, scores_.labels, info().classes).believed;
        }
    }

    /// Of all parts, one after the other.
    void find_twins() {
        std::vector<Rows> parts = {train_};
        parts.push_back(rows_of("validation", model_.data.validation, options_.most_samples));
        parts.push_back(rows_of("test", model_.data.test, options_.most_samples));
        Looks features; // of the network
        Looks outlines; // of the samples: what is moved a little has features of its own
        std::vector<std::pair<std::size_t, std::size_t>> places; // part, place in its rows
        LayerBefore observer(*model_.executor);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            read_features(parts[part], part, observer, features, outlines, places);
        }
        if (places.size() < 2) {
            return;
        }
        if (!observer.found()) {
            out_.notes.emplace_back("no layer before the last one gives a row for each sample: "
                                    "near duplicates were looked for by the samples themselves");
        }
        if (!is_image(info().input.shape)) {
            standardise_columns(outlines.rows, outlines.width);
            standard_ = outlines;
        }
        std::set<std::pair<std::size_t, std::size_t>> candidates = same_inputs_;
        for (Looks* looks : {&features, &outlines}) {
            if (looks->width > 0) {
                add_candidates(*looks, candidates);
            }
        }
        std::erase_if(candidates, [&](const auto& pair) { // training comes first
            return places[pair.first].first != 0;
        });
        compare({candidates.begin(), candidates.end()}, parts, places);
    }

    void add_candidates(Looks& looks, std::set<std::pair<std::size_t, std::size_t>>& to) const {
        centre_and_scale(looks.rows, looks.width);
        const auto nearest = nearest_rows(
            looks.rows, looks.width, kNeighbours, kLeastCosine,
            [this](double share) { tell("comparing samples", share); }, options_.stop);
        for (std::size_t a = 0; a < nearest.size(); ++a) {
            for (const std::int64_t b : nearest[a]) {
                const auto other = static_cast<std::size_t>(b);
                to.insert({std::min(a, other), std::max(a, other)});
            }
        }
    }

    void read_features(const Rows& part, std::size_t number, LayerBefore& observer, Looks& features,
                       Looks& outlines, std::vector<std::pair<std::size_t, std::size_t>>& places) {
        if (part.rows.empty()) {
            return;
        }
        Sayings sayings(*model_.executor, *part.source);
        const auto batch = static_cast<std::size_t>(sayings.batch());
        for (std::size_t first = 0; first < part.rows.size(); first += batch) {
            tell("looking for twins in " + part.part,
                 static_cast<double>(first) / static_cast<double>(part.rows.size()));
            const std::size_t count = std::min(batch, part.rows.size() - first);
            sayings.say(
                std::span(part.rows).subspan(first, count),
                [&](std::size_t i, std::span<const float>, std::span<const std::byte> input) {
                    const std::vector<float> numbers = floats_of(info().input, input);
                    outlines.add(outline_of(numbers, info().input.shape));
                    if (observer.found()) {
                        features.add(observer.row(i));
                    }
                    const auto [before, is_new] = by_input_.insert({crc32c(input), places.size()});
                    if (!is_new) {
                        same_inputs_.insert({before->second, places.size()});
                    }
                    places.emplace_back(number, first + i);
                });
        }
    }

    std::vector<float> input_of(const std::vector<Rows>& parts,
                                const std::pair<std::size_t, std::size_t>& place) const {
        const Rows& part = parts[place.first];
        std::vector<std::byte> bytes(static_cast<std::size_t>(info().input.bytes()));
        part.source->read(part.rows[place.second], bytes, {});
        return floats_of(info().input, bytes);
    }

    void compare(const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                 const std::vector<Rows>& parts,
                 const std::vector<std::pair<std::size_t, std::size_t>>& places) {
        struct Likeness {
            double value = 0;
            bool exact = false;
        };
        std::vector<Likeness> found(pairs.size());
        const auto threads = static_cast<std::size_t>(thread_count(options_.threads));
        std::vector<std::exception_ptr> faults(threads); // files may have gone meanwhile
        {
            std::vector<std::jthread> workers;
            for (std::size_t t = 0; t < threads; ++t) {
                workers.emplace_back([&, t] {
                    try {
                        for (std::size_t i = t; i < pairs.size() && !options_.stop.stop_requested();
                             i += threads) {
                            const std::vector<float> one = input_of(parts, places[pairs[i].first]);
                            const std::vector<float> other =
                                input_of(parts, places[pairs[i].second]);
                            found[i] = {standard_.width > 0
                                            ? row_likeness(standard_.row(pairs[i].first),
                                                           standard_.row(pairs[i].second))
                                            : image_likeness(one, other, info().input.shape),
                                        one == other};
                        }
                    } catch (...) {
                        faults[t] = std::current_exception();
                    }
                });
            }
        }
        for (const std::exception_ptr& fault : faults) {
            if (fault) {
                std::rethrow_exception(fault);
            }
        }
        tell("comparing samples", 1);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (found[i].exact || found[i].value >= options_.likeness) {
                add_pair(parts, places[pairs[i].first], places[pairs[i].second],
                         found[i].exact ? 1.0 : found[i].value, found[i].exact);
            }
        }
    }

    /// Of two training samples the later one is told of, with the other as its twin.
    void add_pair(const std::vector<Rows>& parts, const std::pair<std::size_t, std::size_t>& one,
                  const std::pair<std::size_t, std::size_t>& other, double likeness, bool exact) {
        const bool leaks = other.first != 0;
        const Rows& part = parts[leaks ? other.first : 0];
        const std::size_t at = leaks ? one.second : other.second;
        const std::int64_t row = part.rows[leaks ? other.second : one.second];
        twins_[at].push_back({part.part, part.source->origin(row), likeness, exact});
        (leaks ? leaks_ : duplicates_).insert(at);
    }

    std::vector<std::size_t> hardest() const {
        std::vector<std::size_t> order(train_.rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::erase_if(order, [this](std::size_t at) { return std::isnan(scores_.losses[0][at]); });
        const auto count = std::min(
            {order.size(), options_.most_suspects,
             static_cast<std::size_t>(std::ceil(kHardShare * static_cast<double>(order.size())))});
        std::vector<double> mean(train_.rows.size());
        for (const std::size_t at : order) {
            mean[at] = mean_loss(at);
        }
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                          order.end(),
                          [&](std::size_t a, std::size_t b) { return mean[a] > mean[b]; });
        order.resize(count);
        return order;
    }

    double mean_loss(std::size_t at) const {
        double sum = 0;
        for (const std::vector<float>& of : scores_.losses) {
            sum += static_cast<double>(of[at]);
        }
        return sum / static_cast<double>(scores_.losses.size());
    }

    /// How much likelier another class is than the label: above 0 the more wrong the label seems.
    double doubt(std::size_t at) const {
        const auto width = static_cast<std::size_t>(info().classes);
        const float* said = scores_.said.data() + at * width;
        return static_cast<double>(said[static_cast<std::size_t>(believed_[at])]) -
               static_cast<double>(said[static_cast<std::size_t>(scores_.labels[at])]);
    }

    void collect() {
        std::map<std::size_t, std::vector<Suspicion>> reasons;
        std::vector<std::size_t> order;
        const auto take = [&](std::vector<std::size_t> all, Suspicion why) {
            all.resize(std::min(all.size(), options_.most_suspects));
            for (const std::size_t at : all) {
                std::vector<Suspicion>& own = reasons[at];
                if (own.empty()) {
                    order.push_back(at);
                }
                own.push_back(why);
            }
        };
        std::vector<std::size_t> wrong;
        for (std::size_t at = 0; at < believed_.size(); ++at) {
            if (believed_[at] >= 0 && believed_[at] != scores_.labels[at]) {
                wrong.push_back(at);
            }
        }
        std::sort(wrong.begin(), wrong.end(),
                  [this](std::size_t a, std::size_t b) { return doubt(a) > doubt(b); });
        const auto by_likeness = [this](const std::set<std::size_t>& of) {
            std::vector<std::size_t> all(of.begin(), of.end());
            std::stable_sort(all.begin(), all.end(), [this](std::size_t a, std::size_t b) {
                return nearest_twin(a) > nearest_twin(b);
            });
            return all;
        };
        out_.mislabelled = std::ssize(wrong);
        out_.leaks = std::ssize(leaks_);
        out_.duplicates = std::ssize(duplicates_);
        take(std::move(wrong), Suspicion::mislabelled);
        take(by_likeness(leaks_), Suspicion::leak);
        take(by_likeness(duplicates_), Suspicion::duplicate);
        take(hardest(), Suspicion::hard);
        for (const std::size_t at : order) {
            out_.suspects.push_back(suspect(at, std::move(reasons[at])));
        }
    }

    double nearest_twin(std::size_t at) const {
        double best = 0;
        for (const Twin& twin : twins_.at(at)) {
            best = std::max(best, twin.likeness);
        }
        return best;
    }

    Suspect suspect(std::size_t at, std::vector<Suspicion> reasons) {
        Suspect out;
        out.row = train_.rows[at];
        out.index = train_.source->origin(out.row);
        out.crc32c = data::sample_checksum(*model_.data.train_files, out.index);
        out.label = scores_.labels[at];
        for (const std::vector<float>& of : scores_.losses) {
            out.loss.push_back(static_cast<double>(of[at]));
        }
        out.mean_loss = mean_loss(at);
        if (out_.has_classes) {
            const auto width = static_cast<std::size_t>(info().classes);
            const std::span<const float> said = std::span(scores_.said).subspan(at * width, width);
            const bool wrong = !reasons.empty() && reasons[0] == Suspicion::mislabelled;
            out.says = wrong ? believed_[at]
                             : static_cast<std::int32_t>(
                                   std::max_element(said.begin(), said.end()) - said.begin());
            out.confidence = static_cast<double>(said[static_cast<std::size_t>(out.says)]);
            out.margin = scores_.margins[at];
        }
        if (const auto found = twins_.find(at); found != twins_.end()) {
            out.twins = found->second;
            std::stable_sort(out.twins.begin(), out.twins.end(),
                             [](const Twin& a, const Twin& b) { return a.likeness > b.likeness; });
            out.twins.resize(std::min(out.twins.size(), kMostTwins));
        }
        out.reasons = std::move(reasons);
        return out;
    }

    const AuditOptions& options_;
    const std::vector<fs::path>& checkpoints_;
    LoadedModel model_;
    Rows train_;
    Audit out_;
    Scores scores_;
    std::vector<std::int32_t> believed_; // [row]; empty without classes
    Looks standard_;                     // of samples that are no images, as they are compared
    std::unordered_map<std::uint32_t, std::size_t> by_input_;
    std::set<std::pair<std::size_t, std::size_t>> same_inputs_;
    std::map<std::size_t, std::vector<Twin>> twins_;
    std::set<std::size_t> leaks_, duplicates_;
};

} // namespace

std::vector<fs::path> audited_checkpoints(const fs::path& path, std::size_t most) {
    const fs::path last = find_checkpoint(path, "latest");
    std::vector<fs::path> all;
    if (last != path) {
        for (const checkpoint::Entry& entry : checkpoint::list_checkpoints(last.parent_path())) {
            if (entry.problem.empty() && entry.step > 0) {
                all.push_back(entry.path);
            }
        }
    }
    if (all.empty()) {
        return {last};
    }
    const std::size_t count = std::clamp<std::size_t>(most, 1, all.size());
    std::vector<fs::path> out;
    for (std::size_t i = 0; i < count; ++i) { // the last one among them
        out.push_back(all[(i + 1) * all.size() / count - 1]);
    }
    return out;
}

std::string reasons_text(const Suspect& suspect) {
    std::vector<std::string> parts;
    for (const Suspicion reason : suspect.reasons) {
        parts.emplace_back(suspicion_name(reason));
    }
    std::string out = join(parts, ", ");
    if (!suspect.twins.empty()) {
        const Twin& twin = suspect.twins.front();
        out += (twin.exact ? " = " : " ~ ") + twin.part + " " + std::to_string(twin.index);
    }
    return out;
}

std::vector<data::Correction> with_earlier(const compile::RunConfig& config,
                                           std::vector<data::Correction> decided) {
    const config::Json& named = config.section("data").at("corrections");
    std::vector<data::Correction> out;
    if (named.is_string()) {
        out = data::read_corrections(data::resolve(config.base_dir, named.get<std::string>()));
    }
    for (data::Correction& one : decided) {
        std::erase_if(out, [&](const data::Correction& before) {
            return before.part == one.part && before.index == one.index;
        });
        out.push_back(std::move(one));
    }
    return out;
}

std::optional<Audit> audit_data(const std::vector<fs::path>& checkpoints,
                                const AuditOptions& options) {
    try {
        return Auditor(checkpoints, options).run();
    } catch (const Stopped&) {
        return std::nullopt;
    }
}

} // namespace weft::train
