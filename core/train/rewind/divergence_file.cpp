// SPDX-License-Identifier: Apache-2.0
#include "core/train/rewind/divergence_file.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/export.h"
#include "core/compile/programs/programs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr int kDivergenceSchema = 1;
constexpr std::int64_t kLargestDocument = std::int64_t{64} << 20;

Json value_json(double value) {
    return std::isfinite(value) ? Json(value)
           : std::isnan(value)  ? Json("nan")
                                : Json(value > 0 ? "inf" : "-inf");
}

using Names = std::vector<std::string>;

/// What a batch is made of.
struct BatchForm {
    std::int64_t rows = 0; // samples of a microstep
    bool tokens = false;   // sequences of them, else pictures or rows of numbers
};

/// Of a value of a microstep, from its dimension `from` on.
Names names_in_batch(const ir::Shape& shape, const BatchForm& form, int from) {
    static const std::vector<Names> kOf = {{},
                                           {"sample"},
                                           {"sample", "feature"},
                                           {"sample", "position", "feature"},
                                           {"sample", "row", "column", "channel"}};
    static const Names kOfHeads = {"sample", "position", "head", "feature"};
    const auto rank = static_cast<std::size_t>(shape.rank() - from);
    if (rank == 0 || rank >= kOf.size() || shape[from] != form.rows) {
        return {};
    }
    return rank == kOfHeads.size() && form.tokens ? kOfHeads : kOf[rank];
}

/// What the dimensions of an array stand for, where that can be told.
Names dimension_names(const exec::SeenOperand& operand, const BatchForm& form) {
    const ir::Shape& shape = operand.type.shape;
    const std::string& name = operand.name;
    if (name.ends_with(".bias") || name.ends_with(".weight")) {
        static const std::vector<Names> kOf = {
            {}, {"output"}, {"input", "output"}, {}, {"row", "column", "input", "output"}};
        const auto rank = static_cast<std::size_t>(shape.rank());
        return rank < kOf.size() ? kOf[rank] : Names();
    }
    const bool of_all_microsteps = (name == "inputs" || name == "targets") && shape.rank() > 1 &&
                                   (shape[0] != form.rows || shape[1] == form.rows);
    if (of_all_microsteps) {
        Names out = names_in_batch(shape, form, 1);
        out.insert(out.begin(), "microstep");
        return out;
    }
    return names_in_batch(shape, form, 0);
}

Json place_json(const ir::Shape& shape, std::int64_t at, const Names& names) {
    if (at < 0) {
        return nullptr;
    }
    std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
    for (std::size_t dim = index.size(); dim-- > 0;) {
        const std::int64_t extent = shape[static_cast<int>(dim)];
        index[dim] = at % extent;
        at /= extent;
    }
    std::string text;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
        text += (text.empty() ? "" : ", ") +
                (dim < names.size() ? names[dim] + " " : std::string()) +
                std::to_string(index[dim]);
    }
    return {{"index", index}, {"text", text}};
}

Json operand_json(const exec::SeenOperand& operand, const BatchForm& form) {
    const exec::ValueRange& range = operand.range;
    const ir::Shape& shape = operand.type.shape;
    const Names names = dimension_names(operand, form);
    return {{"name", operand.name},
            {"type", ir::to_text(operand.type)},
            {"elements", shape.elements()},
            {"finite", range.finite},
            {"infinite", range.infinite},
            {"nan", range.nan},
            {"low", range.finite > 0 ? value_json(range.low) : Json()},
            {"high", range.finite > 0 ? value_json(range.high) : Json()},
            {"lowest_at", place_json(shape, range.lowest_at, names)},
            {"highest_at", place_json(shape, range.highest_at, names)},
            {"first_bad_at", place_json(shape, range.first_bad, names)},
            {"histogram", operand.histogram}};
}

Json ways_json(const std::vector<WayOn>& ways) {
    Json out = Json::array();
    for (const WayOn& way : ways) {
        out.push_back(
            {{"label", way.label}, {"from_step", way.from_step}, {"overrides", way.overrides}});
    }
    return out;
}

fs::path beside(std::int64_t step, const char* extension) {
    return divergence_path(step).replace_extension(extension);
}

} // namespace

fs::path divergence_path(std::int64_t step) {
    return fs::path("divergence") / (checkpoint::folder_name(step) + ".json");
}

Json divergence_document(const Divergence& what, const compile::RunConfig& config,
                         std::int64_t back_to, std::int64_t passes_over) {
    const ErrorEvent told = explain_divergence(what, config);
    const exec::RunReport& report = what.report;
    const BatchForm form{compile::plan_batch(config).rows, config.context() > 0};
    Json out = {{"schema_version", kDivergenceSchema},
                {"step", what.step},
                {"message", told.message},
                {"where", told.where},
                {"hint", told.hint},
                {"loss", what.spoils ? Json() : value_json(what.loss)},
                {"grad_norm", what.spoils ? Json() : value_json(what.grad_norm)},
                {"loss_scale", config.scales_loss() ? value_json(what.loss_scale) : Json()},
                {"bad_data", what.bad_data},
                {"sample", what.sample}};
    if (report.finite) {
        out["op"] = nullptr;
    } else {
        out["op"] = {{"kind", report.kind},
                     {"group", report.group},
                     {"layer", report.path},
                     {"phase", ir::phase_name(report.phase)},
                     {"iterations", report.iterations},
                     {"position", report.step}};
        out["output"] = operand_json(report.output, form);
    }
    out["inputs"] = Json::array();
    for (const exec::SeenOperand& operand : report.inputs) {
        out["inputs"].push_back(operand_json(operand, form));
    }
    out["batch"] = what.batch.document;
    out["norms"] = what.norms.to_json();
    out["back_to"] = back_to >= 0 ? Json(back_to) : Json();
    out["passes_over"] = passes_over > 0 ? Json(passes_over) : Json();
    out["ways_on"] = ways_json(ways_past(what, config, what.last_checkpoint));
    out["sheet"] = what.batch.sheet.empty() ? "" : beside(what.step, ".png").filename().string();
    out["arrays"] = what.batch.arrays.empty() ? "" : beside(what.step, ".npz").filename().string();
    return out;
}

void write_divergence(const Divergence& what, const Json& document, const fs::path& run_folder) {
    make_directories(run_folder / "divergence");
    if (!what.batch.sheet.empty()) {
        File sheet(run_folder / beside(what.step, ".png"), File::Mode::write);
        sheet.write(what.batch.sheet);
        sheet.close();
    }
    if (!what.batch.arrays.empty()) {
        checkpoint::export_npz(what.batch.arrays, run_folder / beside(what.step, ".npz"));
    }
    // Texts of data need not be whole characters.
    write_file_atomically(run_folder / divergence_path(what.step),
                          document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::int64_t> list_divergences(const fs::path& run_folder) {
    std::vector<std::int64_t> out;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(run_folder / "divergence", problem)) {
        long long step = 0;
        const std::string name = entry.path().filename().string();
        if (std::sscanf(name.c_str(), "step-%lld.json", &step) == 1 &&
            name == divergence_path(step).filename()) {
            out.push_back(step);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

Json read_divergence(const fs::path& run_folder, std::int64_t step) {
    const fs::path path = run_folder / divergence_path(step);
    std::error_code problem;
    if (!fs::exists(path, problem)) {
        throw Error(ErrorKind::usage, path.string(),
                    "nothing is kept of step " + format_thousands(step),
                    "`weft divergence RUN` names the steps");
    }
    const config::Checked read = config::parse_json(
        read_file(path, kLargestDocument, ErrorKind::data), path.string(),
        {.bytes = static_cast<std::size_t>(kLargestDocument), .keys = 1'000'000});
    if (!read.ok() || !read.value.is_object() || !read.value.contains("step")) {
        throw Error(ErrorKind::data, path.string(),
                    read.ok() ? "is not what a run writes" : read.diagnostics.front().message);
    }
    return read.value;
}

} // namespace weft::train
