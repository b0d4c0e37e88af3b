// SPDX-License-Identifier: Apache-2.0
// The commands of `weft`: one function and one file each. It adds a subcommand with its options to
// the one option table (CLI11, which also writes --help) and sets context.exit_code when it runs.
#pragma once

#include "app/cli/context.h"

#include <CLI/CLI.hpp>

namespace weft::cli {

void add_train(CLI::App& app, Context& context);
void add_resume(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_predict(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);
void add_checkpoint(CLI::App& app, Context& context);
void add_runs(CLI::App& app, Context& context);
void add_data(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_help(CLI::App& app, Context& context);

/// Commands of `weft checkpoint`.
void add_reshard(CLI::App& checkpoint, Context& context);
void add_export(CLI::App& checkpoint, Context& context);

constexpr void (*kCommands[])(CLI::App&, Context&) = {
    add_train,      add_resume, add_check, add_plan,  add_eval,   add_predict, add_generate,
    add_checkpoint, add_runs,   add_data,  add_bench, add_doctor, add_help,
};

} // namespace weft::cli
