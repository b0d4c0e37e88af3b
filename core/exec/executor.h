// SPDX-License-Identifier: Apache-2.0
// Replays an execution plan: per device one arena, kernels prepared once per program, then a flat
// loop over steps without any allocation. Owns arenas and kernels; shares the immutable plan. One
// thread at a time; on one device the kernels use the OpenMP team of that thread. The devices of a
// mesh are threads of one core each, which exchange data in process: exact, and not faster. Or each
// has a process of its own (ranks/), and this one drives them all.
//
//   Executor executor(plan, backends);
//   executor.write("init", "random", key); executor.run("init");
//   executor.write("train_step", "inputs", batch); ...
//   executor.run("train_step", stop);
//   ... executor.read("train_step", "loss") ...
//
// The host writes and reads whole arrays; devices hold parts of them as the plan says.
// State slots outlive calls. Everything else in the arena is scratch that programs share: the host
// writes *every* argument before *each* run, and reads results, or has them handed over, before the
// next run.
#pragma once

#include "core/exec/compute.h"
#include "core/exec/device_use.h"
#include "core/exec/find_nonfinite.h"
#include "core/exec/handover.h"
#include "core/exec/host_part.h"
#include "core/exec/value_observer.h"
#include "core/plan/plan.h"
#include "kernels/weft_kernels.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weft::exec {

class RankHub;

struct ExecutorOptions {
    int threads = 0; // size of the OpenMP team; 0 = all cores
    bool instrument =
        false; // poison the arena and watch every byte: tests and `weft plan --verify`
    double exchange_timeout_s = 600; // mesh.exchange_timeout
    /// The processes of the other devices, where each has one, set up with the same plan; outlives
    /// the executor. Null: all devices are of this process.
    RankHub* ranks = nullptr;
};

enum class RunOutcome : std::uint8_t {
    finished,
    stopped, // before the first write to a state slot: the state is as it was
};

/// An operand of a step, and what it held.
struct SeenOperand {
    ir::Type type;
    ValueRange range;
    std::vector<std::int64_t> histogram{}; // histogram_of
    std::string name{};                    // of its buffer: a value, or "<op kind> <path>"
};

/// Of one tensor that an op over many read.
struct SeenSquares {
    std::string name{}; // of its buffer
    ir::Type type;      // a device's part
    double sum = 0;
};

/// What a checked run does besides looking for the first value that is not finite.
struct Checking {
    /// The kind of an op that reads many tensors: the sums of squares of each are reported, and the
    /// run goes on to its end; empty: none.
    std::string squares_of{};
};

/// The first step of a run whose float outputs held a value that is not finite.
struct RunReport {
    bool finite = true;
    std::string kind; // op kind, or "argument" when the host's data or a state slot was bad already
    std::string path; // layer path; the argument's name
    ir::Phase phase = ir::Phase::forward;
    std::vector<std::int64_t> iterations; // of the enclosing loops, outermost first
    int step = -1;                        // linear position; -1 for an argument
    std::vector<std::string> group;       // of a group of ops: their kinds
    std::vector<SeenOperand> inputs;      // what it read, a device's part
    SeenOperand output;                   // the first one that is not finite
    std::vector<SeenSquares> squares{};   // as Checking asks
};

/// Told about every kernel call of a run, on the running thread. Must not throw; should be quick. A
/// device that works by itself is waited for, after which all calls of the run are told at once.
class StepObserver {
public:
    virtual ~StepObserver() = default;
    /// `position` is the linear position of the step; times are of SystemClock::steady_s, and on a
    /// device that works by itself read from its own clock.
    virtual void step_done(const plan::Step& step, int position, double start_s, double end_s) = 0;
    /// Right before step_done of an exchange on the host: how much of it was waiting for others.
    virtual void waited(double /*seconds*/) {}
};

/// After so many runs of a program, libraries and the allocator below them have what they want.
constexpr int kSettlingRuns = 8;

/// What an instrumented executor saw since it was made.
struct ArenaReport {
    std::int64_t highest_touched_byte = 0; // one past the highest arena byte ever written
    std::vector<std::string> violations;   // reads before write, writes outside the outputs
};

class Executor {
public:
    /// Opens the devices and reserves their arenas' addresses (zero-filled), nothing else.
    /// `compute` has the back ends that were given to build_plan. Throws weft::Error{memory} when
    /// an arena cannot be had, weft::Error{device} when a device cannot be opened.
    Executor(std::shared_ptr<const plan::ExecutionPlan> plan, Compute compute,
             ExecutorOptions options = {});
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    const plan::ExecutionPlan& plan() const;
    /// Whether a run is over when `run` returns.
    bool on_host() const;

    /// Hands an argument to the devices. `whole` has exactly its bytes. An unknown name is a
    /// programmer fault.
    void write(std::string_view program, std::string_view name, std::span<const std::byte> whole);
    /// A result, put together from the devices' parts; valid until the next call of this function
    /// or of run.
    std::span<const std::byte> read(std::string_view program, std::string_view name);
    /// Results of the run before, to be waited for and looked at at any time, the next run under
    /// way or not: on devices that work by themselves nobody waits now. Of those that every device
    /// of a stage has whole.
    Handover hand_over(std::string_view program, std::span<const std::string> names);
    /// State slots likewise.
    void write_slot(std::string_view name, std::span<const std::byte> whole);
    std::vector<std::byte> read_slot(std::string_view name);

    /// The part of a slot or port that a device holds. An argument is the host's to fill and store.
    HostPart slot(std::string_view name, int device = 0, HostPart::Use use = HostPart::Use::look);
    HostPart argument(std::string_view program, std::string_view name, int device = 0);
    HostPart result(std::string_view program, std::string_view name, int device = 0);

    /// Takes the program's part of the arena and creates its kernels; run does so on first use.
    /// Throws weft::Error{runtime} when the plan was made without back ends or for others,
    /// weft::Error{memory, device} from the kernels.
    void prepare(std::string_view program);
    /// Runs the program once; devices that work by themselves may go on when it returns, and
    /// whoever reads a result waits. Throws weft::Error{device} with op and library text when a
    /// kernel fails. On a mesh all devices stop or none; after a fault of one device the executor
    /// is of no more use.
    RunOutcome run(std::string_view program, std::stop_token stop = {});
    /// As run, but looks at every float output after each step and stops at the first value that is
    /// not finite: finds the op behind a diverged loss. Slow. Changes state exactly as far as it
    /// ran: save the slots before where that matters.
    RunReport run_checked(std::string_view program, const Checking& checking = {});

    /// Sees the steps of a device. Null (the default) costs nothing; it must outlive the runs.
    void set_observer(StepObserver* observer, int device = 0);
    /// Sees the values of a device's steps in the runs that follow. Null (the default) costs
    /// nothing; it must outlive the runs. Of a device of another process it sees what an observer
    /// there hands over once this one is taken away (ValueObserver::seen_elsewhere); throws
    /// weft::Error{device} where that process is lost.
    void set_value_observer(ValueObserver* observer, int device = 0);
    /// Where each device has a process and works by itself: waits until that of this process has
    /// done what it was given. Before anything is asked of the other processes that waits for
    /// theirs.
    void finish();
    /// Whether the device is of this process.
    bool is_here(int device) const;
    /// The host of a device's process, where each has one; else empty.
    std::string host_of(int device) const;
    /// Of the last run of any program, on a mesh; on devices that work by themselves of its last
    /// run that has ended, also on one device. Waits for nothing.
    DeviceUse last_use(int device) const;
    /// Bytes of the arena that the prepared programs have taken: plan and resident memory agree.
    std::int64_t resident_bytes() const;
    std::int64_t resident_bytes(int device) const;
    /// Bytes that a device which works by itself was asked for: arena and landing room.
    std::int64_t reserved_bytes(int device) const;
    /// What else it holds, as the device itself counts its free memory: groups that were joined,
    /// and what came with kernels and runs. Other processes are in it, where they took memory
    /// meanwhile. The driver's part is not known here: 0.
    plan::DeviceMemory beside(int device) const;
    /// What libraries keep for themselves on the heap: what the process grew by while kernels were
    /// made and in the first kSettlingRuns runs of each program, less what it gave back there, less
    /// the arena. Our own code allocates nothing in a run; that other threads do not either,
    /// meanwhile, is the caller's business (train::StepLoop sees to it).
    std::int64_t library_bytes() const;
    /// Resident memory that other processes have taken for their devices, since they have them.
    std::int64_t elsewhere_bytes() const;
    /// Of an instrumented executor; empty otherwise.
    ArenaReport arena_report() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::exec
