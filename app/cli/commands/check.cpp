// SPDX-License-Identifier: Apache-2.0
// weft check CONFIG: every diagnostic at once, and what becomes of the weights that the run starts
// with; trains nothing, creates nothing.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/run_file.h"
#include "core/base/error.h"
#include "core/compile/programs/model_sketch.h"
#include "core/compile/programs/programs.h"
#include "core/train/engine.h"
#include "core/train/start_check.h"
#include "core/train/warm_start.h"

namespace weft::cli {
namespace {

struct CheckOptions {
    std::string config;
    std::vector<std::string> overrides;
    bool json = false;
};

/// What init.from has for the model; none: the run starts with random weights.
std::optional<train::WarmStart> check_start(const compile::RunConfig& config,
                                            const data::SampleInfo& sample,
                                            config::Diagnostics& out) {
    const config::Json& init = config.section("init");
    if (init.at("from").is_null()) {
        return std::nullopt;
    }
    train::WarmStart start =
        train::match_start_weights(config, train::start_weights_of(config, sample));
    if (const auto refused = train::refusal_of(start, init.at("strict").get<bool>())) {
        out.push_back({"/init/from", config::Severity::error,
                       refused->where() + ": " + refused->text(), refused->hint()});
    }
    return start;
}

/// What init.lora.from has for its layers; none: they start without.
std::optional<train::WarmStart> check_factors(const compile::RunConfig& config,
                                              const data::SampleInfo& sample,
                                              config::Diagnostics& out) {
    auto start = train::match_start_factors(config, train::start_factors_of(config, sample));
    const bool strict = config.section("init").at("strict").get<bool>();
    if (start) {
        if (const auto refused = train::refusal_of_factors(*start, strict)) {
            out.push_back({"/init/lora/from", config::Severity::error,
                           refused->where() + ": " + refused->text(), refused->hint()});
        }
    }
    return start;
}

config::Json start_json(const train::WarmStart& start) {
    config::Json rows = config::Json::array();
    for (const foreign::MatchRow& row : start.match.rows) {
        rows.push_back({{"fate", foreign::fate_name(row.fate)},
                        {"name", row.ours},
                        {"type", row.here},
                        {"there", row.theirs},
                        {"type_there", row.there}});
    }
    const foreign::Family* family = start.match.family;
    return {{"from", start.source.string()},
            {"names", family != nullptr ? std::string(family->help) : "Weft"},
            {"tensors", std::move(rows)},
            {"differences", start.differences}};
}

void print_start(const train::WarmStart& start) {
    std::printf("%s:\n%s", start.source.c_str(), foreign::table_of(start.match).c_str());
    for (const std::string& difference : start.differences) {
        std::printf("Other numbers there: %s.\n", difference.c_str());
    }
}

struct Found {
    int code = 0;
    std::optional<train::WarmStart> start;
    std::optional<train::WarmStart> factors;
};

// A sound configuration may still name data that is not there, or a model that does not fit it.
Found check_data_and_model(const compile::RunConfig& config, config::Diagnostics& out) {
    const config::Diagnostics missing = train::missing_files(config);
    if (!missing.empty()) {
        out.insert(out.end(), missing.begin(), missing.end());
        return {exit_code(ErrorKind::data), {}, {}};
    }
    try {
        const data::DataSet data = train::open_run_data(config);
        for (const data::Note& note : data.notes) {
            if (!note.is_decision) {
                out.push_back({"/data/train", config::Severity::warning, note, ""});
            }
        }
        compile::build_programs(config, data.train->info());
        Found found;
        found.start = check_start(config, data.train->info(), out);
        found.factors = check_factors(config, data.train->info(), out);
        found.code = config::has_errors(out) ? exit_code(ErrorKind::checkpoint) : 0;
        return found;
    } catch (const Error& fault) {
        const std::string pointer = fault.kind() == ErrorKind::data ? "/data/train"
                                    : fault.kind() == ErrorKind::checkpoint
                                        ? "/init/from"
                                        : compile::pointer_of_layer(fault.where());
        const std::string where = fault.where() == pointer ? "" : fault.where() + ": ";
        out.push_back({pointer, config::Severity::error, where + fault.text(), fault.hint()});
        return {exit_code(fault.kind()), {}, {}};
    }
}

int check_config(const CheckOptions& options) {
    compile::CheckedRun checked =
        read_run_file(options.config, options.overrides, MadeUpData::allowed);
    const Found found = checked.ok() ? check_data_and_model(checked.config, checked.diagnostics)
                                     : Found{kExitUsage, {}, {}};
    const int code = found.code;
    if (options.json) {
        config::Json out{{"valid", code == 0},
                         {"diagnostics", diagnostics_json(checked.diagnostics)}};
        if (found.start) {
            out["weights"] = start_json(*found.start);
        }
        if (found.factors) {
            out["factors"] = start_json(*found.factors);
        }
        print_json(out);
        return code;
    }
    print_diagnostics(checked.diagnostics);
    for (const auto* start : {&found.start, &found.factors}) {
        if (*start) {
            print_start(**start);
        }
    }
    if (code == 0) {
        std::printf("%s is valid.\n", options.config.c_str());
    }
    return code;
}

} // namespace

void add_check(Command app, Context& context) {
    auto options = std::make_shared<CheckOptions>();
    const Command command = app.subcommand("check", "find every problem of a configuration");
    command.positional("CONFIG", &options->config, kRunFileHelp).required();
    command.option("--set", &options->overrides, "change a setting: key.path=value").one_value();
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = check_config(*options); });
}

} // namespace weft::cli
