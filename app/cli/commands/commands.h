// SPDX-License-Identifier: Apache-2.0
// The commands of `weft`: one function and one file each. It adds a subcommand with its options to
// the one option table (command_line.h) and sets context.exit_code when it runs.
#pragma once

#include "app/cli/command_line.h"
#include "app/cli/context.h"

namespace weft::cli {

void add_train(Command app, Context& context);
void add_resume(Command app, Context& context);
void add_launch(Command app, Context& context);
void add_check(Command app, Context& context);
void add_plan(Command app, Context& context);
void add_eval(Command app, Context& context);
void add_predict(Command app, Context& context);
void add_generate(Command app, Context& context);
/// Into the command `data`, both.
void add_tokens(Command data, Context& context);
void add_audit(Command data, Context& context);
void add_checkpoint(Command app, Context& context);
void add_profile(Command app, Context& context);
void add_divergence(Command app, Context& context);
void add_tell(Command app, Context& context);
void add_runs(Command app, Context& context);
void add_queue(Command app, Context& context);
void add_hosts(Command app, Context& context);
void add_sweep(Command app, Context& context);
void add_data(Command app, Context& context);
void add_bench(Command app, Context& context);
void add_doctor(Command app, Context& context);
void add_help(Command app, Context& context);

/// Commands of `weft checkpoint`.
void add_reshard(Command checkpoint, Context& context);
void add_export(Command checkpoint, Context& context);
/// Of `runs`.
void add_media(Command runs, Context& context);
void add_layers(Command runs, Context& context);

constexpr void (*kCommands[])(Command, Context&) = {
    add_train,    add_resume,     add_launch,  add_check,      add_plan,   add_eval, add_predict,
    add_generate, add_checkpoint, add_profile, add_divergence, add_tell,   add_runs, add_queue,
    add_sweep,    add_hosts,      add_data,    add_bench,      add_doctor, add_help,
};

} // namespace weft::cli
