// SPDX-License-Identifier: Apache-2.0
// weft divergence RUN: what a loss or gradient that was not finite came from, and the ways on
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"
#include "core/train/record/run_folder.h"
#include "core/train/rewind/divergence_file.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::size_t kShownLayers = 24;
constexpr std::size_t kShownSteps = 5;
constexpr std::size_t kShownValues = 8; // of a sample

struct DivergenceOptions {
    std::string run;
    std::optional<std::int64_t> step;
    bool json = false;
};

std::string text_of_number(const Json& value) {
    return value.is_number()   ? format_short(value.get<double>())
           : value.is_string() ? value.get<std::string>()
                               : "-";
}

/// Bars of eight heights; a bin that is not empty has one.
std::string bars(const Json& counts) {
    static const char* const kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::int64_t most = 1;
    for (const Json& count : counts) {
        most = std::max(most, count.get<std::int64_t>());
    }
    std::string out;
    for (const Json& count : counts) {
        const auto height = (8 * count.get<std::int64_t>() + most - 1) / most;
        out += kBars[height];
    }
    return out;
}

/// "sample 5, feature 2"; empty for an array of one number, or where there is none.
std::string place_of(const Json& operand, const char* key) {
    const Json& place = operand.at(key);
    return place.is_object() ? place.at("text").get<std::string>() : std::string();
}

void print_operand(const char* role, const Json& operand) {
    std::printf("  %-7s %s  %s\n", role, operand.at("type").get<std::string>().c_str(),
                operand.at("name").get<std::string>().c_str());
    if (operand.at("finite") != 0) {
        std::printf("          from %s to %s", text_of_number(operand.at("low")).c_str(),
                    text_of_number(operand.at("high")).c_str());
        if (const std::string place = place_of(operand, "highest_at"); !place.empty()) {
            std::printf(" (at %s)", place.c_str());
        }
        std::printf("\n");
    }
    if (operand.at("nan") != 0 || operand.at("infinite") != 0) {
        std::printf("          %s NaN, %s infinite",
                    format_thousands(operand["nan"].get<std::int64_t>()).c_str(),
                    format_thousands(operand["infinite"].get<std::int64_t>()).c_str());
        if (const std::string place = place_of(operand, "first_bad_at"); !place.empty()) {
            std::printf("; the first at %s", place.c_str());
        }
        std::printf("\n");
    }
    if (!operand.at("histogram").empty()) {
        std::printf("          |%s|\n", bars(operand["histogram"]).c_str());
    }
}

void print_op(const Json& document) {
    const Json& op = document.at("op");
    if (op.is_null()) {
        std::printf("Its replay stayed finite: where it began is not known.\n");
        return;
    }
    std::vector<std::string> group;
    for (const Json& kind : op.at("group")) {
        group.push_back(kind.get<std::string>());
    }
    std::printf("First bad value\n  op      %s%s\n  layer   %s\n  phase   %s\n",
                op.at("kind").get<std::string>().c_str(),
                group.empty() ? "" : (" of " + join(group, ", ")).c_str(),
                op.at("layer").get<std::string>().c_str(),
                op.at("phase").get<std::string>().c_str());
    for (const Json& operand : document.at("inputs")) {
        print_operand("read", operand);
    }
    print_operand(op["kind"] == "argument" ? "given" : "made", document.at("output"));
}

/// "table.csv, row 21", without the folders.
std::string place_text(const Json& sample) {
    const auto place = sample.at("place").get<std::string>();
    const std::size_t slash = place.substr(0, place.find(", ")).rfind('/');
    return slash == std::string::npos ? place : place.substr(slash + 1);
}

/// "a 0.5, b 2, target 3e+30"
std::string sample_values(const Json& sample, const Json& names) {
    std::vector<std::string> out;
    const Json& values = sample.at("values");
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), kShownValues); ++i) {
        const std::string name = i < names.size() ? names[i].get<std::string>() + " " : "";
        out.push_back(name + text_of_number(values[i]));
    }
    if (values.size() > kShownValues) {
        out.emplace_back("...");
    }
    if (const auto target = sample.find("target"); target != sample.end() && !target->empty()) {
        out.push_back("target " + text_of_number(target->front()));
    }
    return join(out, ", ");
}

void print_batch(const Json& batch) {
    if (!batch.is_object()) {
        return;
    }
    std::printf("\nBatch: epoch %s, samples %s to %s of it\n",
                format_thousands(batch.at("epoch").get<std::int64_t>()).c_str(),
                format_thousands(batch.at("first").get<std::int64_t>()).c_str(),
                format_thousands(batch["first"].get<std::int64_t>() +
                                 batch.at("samples").get<std::int64_t>() - 1)
                    .c_str());
    for (const Json& sample : batch.at("shown")) {
        const bool suspect = sample.at("suspect").get<bool>();
        std::string said = sample.value("name", std::string());
        if (sample.contains("text")) {
            said += (said.empty() ? "" : ": ") + shown(sample["text"].get<std::string>());
        } else if (sample.contains("values")) {
            said += (said.empty() ? "" : ": ") + sample_values(sample, batch.at("input_names"));
        }
        std::printf("  %s %-8s %s  %s\n", suspect ? ">" : " ",
                    ("#" + format_thousands(sample.at("index").get<std::int64_t>())).c_str(),
                    place_text(sample).c_str(), said.c_str());
    }
}

void print_norms(const Json& norms) {
    const Json& steps = norms.at("steps");
    if (steps.empty()) {
        return;
    }
    const std::size_t first = steps.size() - std::min(steps.size(), kShownSteps);
    std::printf("\nNorms of gradients%s by step\n  %-28s",
                norms.value("parts", false) ? ", of what one device holds," : "", "layer");
    for (std::size_t i = first; i < steps.size(); ++i) {
        std::printf(" %10s", format_thousands(steps[i].get<std::int64_t>()).c_str());
    }
    std::printf("\n");
    std::size_t shown_layers = 0;
    for (const Json& layer : norms.at("layers")) {
        if (++shown_layers > kShownLayers) {
            std::printf("  ... %zu more (--json)\n", norms["layers"].size() - kShownLayers);
            break;
        }
        std::printf("  %-28s", layer.at("name").get<std::string>().c_str());
        for (std::size_t i = first; i < steps.size(); ++i) {
            std::printf(" %10s", text_of_number(layer.at("norms").at(i)).c_str());
        }
        std::printf("\n");
    }
}

/// What a shell takes as one word.
std::string quoted(const std::string& word) {
    const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("._-/=:+@%").find(char(c)) != std::string_view::npos;
    });
    if (plain) {
        return word;
    }
    std::string out = "'";
    for (const char c : word) {
        out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out + "'";
}

void print_ways(const Json& document, const fs::path& run) {
    const Json& ways = document.at("ways_on");
    if (!ways.empty()) {
        std::printf("\nWays on, each a new run\n");
    }
    int number = 0;
    for (const Json& way : ways) {
        std::string sets;
        for (const Json& assignment : way.at("overrides")) {
            sets += " --set " + quoted(assignment.get<std::string>());
        }
        const std::int64_t from = way.at("from_step").get<std::int64_t>();
        const std::string label = way.at("label").get<std::string>();
        std::printf("  %s\n", label.c_str());
        if (label.starts_with("Start again")) {
            std::printf("    weft train %s%s\n", quoted((run / "config.json").string()).c_str(),
                        sets.c_str());
        } else {
            const std::string fork = run.string() + "-way-" + std::to_string(++number);
            std::printf("    weft resume %s --from %lld --fork %s%s\n",
                        quoted(run.string()).c_str(), static_cast<long long>(from),
                        quoted(fork).c_str(), sets.c_str());
        }
    }
}

void print_divergence(const Json& document, const fs::path& run) {
    std::printf("%s\n", document.at("message").get<std::string>().c_str());
    if (const Json& back = document.at("back_to"); back.is_number()) {
        std::printf("The run went back to step %s", format_thousands(back).c_str());
        const Json& left = document.at("passes_over");
        std::printf(left.is_number() ? " and leaves step %s out.\n"
                                     : " to look for the update that did it%s.\n",
                    left.is_number() ? format_thousands(left).c_str() : "");
    }
    std::printf("\n");
    print_op(document);
    print_batch(document.at("batch"));
    print_norms(document.at("norms"));
    if (document.at("back_to").is_null()) {
        print_ways(document, run);
    }
}

int show_divergence(const DivergenceOptions& options, const Context& context) {
    fs::path run = checkpoint::follow_pointer(options.run);
    run = train::is_run_folder(run) ? run : context.runs_root / options.run;
    if (!train::is_run_folder(run)) {
        throw Error(ErrorKind::usage, options.run, "is no run",
                    "Name a run's folder, or its name.");
    }
    const std::vector<std::int64_t> steps = train::list_divergences(run);
    if (steps.empty()) {
        throw Error(ErrorKind::usage, run.string(), "never diverged",
                    "There is something to show once a loss or gradient was not finite.");
    }
    const std::int64_t step = options.step.value_or(steps.back());
    const Json document = train::read_divergence(run, step);
    if (options.json) {
        print_json(document);
        return 0;
    }
    print_divergence(document, run);
    if (steps.size() > 1) {
        std::vector<std::string> all;
        for (const std::int64_t one : steps) {
            all.push_back(format_thousands(one));
        }
        std::printf("\nIt diverged at the steps %s; --step shows another one.\n",
                    join(all, ", ").c_str());
    }
    return 0;
}

} // namespace

void add_divergence(Command app, Context& context) {
    auto options = std::make_shared<DivergenceOptions>();
    const Command command =
        app.subcommand("divergence", "what a loss that is not finite came from, and the ways on");
    command.positional("RUN", &options->run, "a run's folder, or its name").required();
    command.option("--step", &options->step, "of this update (default: the last one)").positive();
    command.flag("--json", &options->json, "the whole document as JSON");
    command.callback(
        [options, &context] { context.exit_code = show_divergence(*options, context); });
}

} // namespace weft::cli
