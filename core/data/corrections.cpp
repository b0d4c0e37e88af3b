// SPDX-License-Identifier: Apache-2.0
#include "core/data/corrections.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/json.h"
#include "core/data/views.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace weft::data {
namespace {

using config::Json;

constexpr std::int64_t kMostCorrectionBytes = std::int64_t{256} << 20;
constexpr const char* kCorrectionForm =
    R"(Write {"part": "train", "index": 17, "crc32c": "0a1b2c3d", "action": "exclude"}, or )"
    R"("action": "label" with "label": 3; weft data audit writes such a list.)";

std::string at_line(const Path& file, int line) {
    return file.string() + ", line " + std::to_string(line);
}

[[noreturn]] void refuse_line(const Path& file, int line, const std::string& what) {
    throw Error(ErrorKind::data, at_line(file, line), what, kCorrectionForm);
}

std::string checksum_text(std::uint32_t checksum) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", checksum);
    return text;
}

std::uint32_t read_checksum(const Path& file, int line, const Json& text) {
    std::uint32_t out = 0;
    const std::string digits = text.is_string() ? text.get<std::string>() : "";
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, out, 16);
    if (digits.size() != 8 || read.ec != std::errc() || read.ptr != end) {
        refuse_line(file, line, "\"crc32c\" is no checksum of eight hexadecimal digits");
    }
    return out;
}

Correction read_correction(const Path& file, int line, const std::string& text) {
    const Json json = config::json_or_discarded(text);
    if (!json.is_object()) {
        refuse_line(file, line, "is no decision about a sample");
    }
    const auto whole = [&](const char* key) {
        if (!json.contains(key) || !json.at(key).is_number_integer() ||
            json.at(key).get<std::int64_t>() < 0) {
            refuse_line(file, line, "\"" + std::string(key) + "\" is no whole number from 0");
        }
        return json.at(key).get<std::int64_t>();
    };
    const auto word = [&](const char* key) {
        return json.contains(key) && json.at(key).is_string() ? json.at(key).get<std::string>()
                                                              : std::string();
    };
    Correction out;
    out.line = line;
    out.part = word("part");
    if (out.part != "train" && out.part != "validation") {
        refuse_line(file, line,
                    out.part == "test" ? "the test part is never changed: it judges"
                                       : "\"part\" is neither train nor validation");
    }
    out.index = whole("index");
    out.crc32c = read_checksum(file, line, json.value("crc32c", Json()));
    const std::string action = word("action");
    if (action == "label") {
        const std::int64_t label = whole("label");
        out.label = static_cast<std::int32_t>(std::min<std::int64_t>(label, 1 << 30));
    } else if (action != "exclude") {
        refuse_line(file, line, "\"action\" is neither exclude nor label");
    }
    out.why = word("why");
    return out;
}

/// With the classes that somebody gave some of them.
class RelabelledSource final : public SourceOver {
public:
    RelabelledSource(std::shared_ptr<const Source> source,
                     std::map<std::int64_t, std::int32_t> labels,
                     const std::vector<std::int64_t>& excluded, std::string fingerprint)
        : SourceOver(std::move(source)), labels_(std::move(labels)), info_(SourceOver::info()),
          fingerprint_(std::move(fingerprint)) {
        const auto count = [this](std::int32_t label, std::int64_t more) {
            if (label >= 0 && static_cast<std::size_t>(label) < info_.class_counts.size()) {
                info_.class_counts[static_cast<std::size_t>(label)] += more;
            }
        };
        for (const auto& [index, label] : labels_) {
            count(this->source().label(index), -1);
            count(label, 1);
        }
        for (const std::int64_t index : excluded) {
            count(this->source().label(index), -1);
        }
    }

    const SampleInfo& info() const override { return info_; }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source().read(index, input, target);
        correct(index, target);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        source().read_in_epoch(index, epoch, input, target);
        correct(index, target);
    }
    std::int32_t label(std::int64_t index) const override {
        const auto found = labels_.find(index);
        return found == labels_.end() ? source().label(index) : found->second;
    }
    std::string fingerprint() const override { return fingerprint_; }

private:
    void correct(std::int64_t index, std::span<std::byte> target) const {
        const auto found = labels_.find(index);
        if (found != labels_.end() && target.size() == sizeof found->second) {
            std::memcpy(target.data(), &found->second, sizeof found->second);
        }
    }

    std::map<std::int64_t, std::int32_t> labels_;
    SampleInfo info_;
    std::string fingerprint_;
};

} // namespace

std::vector<Correction> read_corrections(const Path& file) {
    std::vector<Correction> out;
    std::map<std::pair<std::string, std::int64_t>, int> seen;
    int line = 0;
    for (const std::string& text :
         split(read_file(file, kMostCorrectionBytes, ErrorKind::data), '\n')) {
        ++line;
        if (trim(text).empty()) {
            continue;
        }
        out.push_back(read_correction(file, line, text));
        const auto [before, is_new] = seen.insert({{out.back().part, out.back().index}, line});
        if (!is_new) {
            refuse_line(file, line,
                        "sample " + std::to_string(out.back().index) + " of " + out.back().part +
                            " has a decision in line " + std::to_string(before->second) +
                            " already");
        }
    }
    return out;
}

void write_corrections(const Path& file, const std::vector<Correction>& corrections) {
    std::string text;
    for (const Correction& one : corrections) {
        Json json{{"part", one.part},
                  {"index", one.index},
                  {"crc32c", checksum_text(one.crc32c)},
                  {"action", one.excludes() ? "exclude" : "label"}};
        if (!one.excludes()) {
            json["label"] = one.label;
        }
        if (!one.why.empty()) {
            json["why"] = one.why;
        }
        text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    write_file_atomically(file, text);
}

std::uint32_t sample_checksum(const Source& source, std::int64_t index) {
    const SampleInfo& info = source.info();
    std::vector<std::byte> input(static_cast<std::size_t>(info.input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(info.target.bytes()));
    source.read(index, input, target);
    return crc32c(std::span<const std::byte>(target), crc32c(std::span<const std::byte>(input)));
}

PartCorrections::PartCorrections(const Path& file, const std::vector<Correction>& all,
                                 std::string_view part, const Source& source)
    : file_(file) {
    const std::int64_t classes = source.info().classes;
    const bool has_class = classes > 0 && source.info().target.shape.rank() == 0;
    for (const Correction& one : all) {
        if (one.part != part) {
            continue;
        }
        if (!source.blocks().empty()) {
            throw Error(ErrorKind::data, "/data/corrections",
                        "these data are read block by block, and single samples of them are not "
                        "at hand",
                        "Set data.cache to \"memory\", or correct the files themselves.");
        }
        const std::string where = at_line(file, one.line);
        const std::string sample = "sample " + std::to_string(one.index) + " of " + one.part;
        if (one.index >= source.samples()) {
            throw Error(ErrorKind::data, where,
                        sample + " is not there: it has " + format_thousands(source.samples()),
                        "The list is of other data: audit these anew, or remove the line.");
        }
        if (!one.excludes() && (!has_class || one.label >= classes)) {
            throw Error(ErrorKind::data, where,
                        has_class ? "class " + std::to_string(one.label) + " is none of the " +
                                        std::to_string(classes) + " that there are"
                                  : "samples of these data have no class of their own",
                        has_class ? "Name a class from 0." : "Such samples can only be excluded.");
        }
        if (sample_checksum(source, one.index) != one.crc32c) {
            throw Error(ErrorKind::data, where,
                        sample + " (" + source.place_of(one.index) +
                            ") holds something else than what was decided about",
                        "The list is of other data, or these were changed: audit them anew, or "
                        "remove the line.");
        }
        if (one.excludes()) {
            excluded_.push_back(one.index);
        } else {
            labels_[one.index] = one.label;
        }
        checksum_ =
            crc32c(std::to_string(one.index) + ":" + std::to_string(one.label) + ";", checksum_);
    }
    std::sort(excluded_.begin(), excluded_.end());
}

std::vector<std::int64_t> PartCorrections::kept(const std::vector<std::int64_t>& indices) const {
    std::vector<std::int64_t> out;
    out.reserve(indices.size());
    std::set_difference(indices.begin(), indices.end(), excluded_.begin(), excluded_.end(),
                        std::back_inserter(out));
    if (out.empty()) {
        throw Error(ErrorKind::data, file_.string(), "leaves no sample", "Take lines out of it.");
    }
    return out;
}

std::vector<std::int64_t> PartCorrections::kept(std::int64_t samples) const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<std::int64_t>(i);
    }
    return kept(all);
}

std::shared_ptr<const Source>
PartCorrections::relabelled(std::shared_ptr<const Source> source) const {
    std::string fingerprint =
        source->fingerprint() + ", corrected crc32c " + std::to_string(checksum_);
    return std::make_shared<RelabelledSource>(std::move(source), labels_, excluded_,
                                              std::move(fingerprint));
}

std::string PartCorrections::text() const {
    std::vector<std::string> parts;
    const auto count = [](std::size_t samples) {
        return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
    };
    if (!excluded_.empty()) {
        parts.push_back(count(excluded_.size()) + " left out");
    }
    if (!labels_.empty()) {
        parts.push_back(count(labels_.size()) + " with another class");
    }
    return join(parts, ", ");
}

} // namespace weft::data
