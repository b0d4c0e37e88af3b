// SPDX-License-Identifier: GPL-3.0-or-later
// The suites of bench_studio, each in a file of its own. A suite opens what it measures and prints
// every figure beside its target; the numbers are those of UX.md, section 5. None asserts.
#pragma once

void bench_start();    // 15
void bench_window();   // what it starts
void bench_pages();    // 1, 2
void bench_live();     // 3, 16, 17, 18
void bench_open();     // 3, 24, a long run
void bench_charts();   // 4 to 11
void bench_curves();   // 6 to 9, on the Train page
void bench_mesh();     // 12, 13
void bench_edits();    // 12, the edits alone
void bench_devices();  // 3, 12, of many devices
void bench_schedules(); // 3, 13, of thousands of microbatches
void bench_graph();    // 14
void bench_saves();    // 19, 21, 27
void bench_runs();     // 7, 20, 24
void bench_wall();     // many runs in many charts
void bench_logs();     // 22
void bench_overhead(); // 23
void bench_export();   // 25
void bench_contrast(); // 28
