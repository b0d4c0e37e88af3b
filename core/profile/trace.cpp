// SPDX-License-Identifier: Apache-2.0
#include "core/profile/trace.h"

#include "core/config/json.h"

namespace weft::profile {
namespace {

using config::Json;

constexpr int kKernelThread = 1;
constexpr int kExchangeThread = 2;

/// Written event by event: a recording may have millions.
class TraceWriter {
public:
    void add(const Json& event) {
        text_ += text_.empty() ? "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" : ",\n";
        text_ += event.dump();
    }
    void name(const char* what, int process, int thread, const std::string& name) {
        add({{"ph", "M"},
             {"name", what},
             {"pid", process},
             {"tid", thread},
             {"args", {{"name", name}}}});
    }
    void span(int process, int thread, const std::string& name, const std::string& category,
              double start_us, double duration_us, Json arguments = Json::object()) {
        add({{"ph", "X"},
             {"name", name},
             {"cat", category},
             {"pid", process},
             {"tid", thread},
             {"ts", start_us},
             {"dur", duration_us},
             {"args", std::move(arguments)}});
    }
    std::string finish() && { return std::move(text_) + "\n]}\n"; }

private:
    std::string text_;
};

void write_host(const Recording& recording, TraceWriter& out) {
    out.name("process_name", 0, 0, "host");
    out.name("thread_name", 0, kKernelThread, "steps");
    for (const StepTimes& step : recording.steps) {
        out.span(0, kKernelThread, "step " + std::to_string(step.step), "step", step.start_us,
                 step.wall_us());
        out.span(0, kKernelThread, "waiting for the batch", "loader", step.start_us,
                 step.batch_us - step.start_us);
        out.span(0, kKernelThread, "devices", "devices", step.batch_us,
                 step.computed_us - step.batch_us);
        out.span(0, kKernelThread, "numbers and events", "host", step.computed_us,
                 step.end_us - step.computed_us);
    }
}

void write_device(const Recording& recording, int process, const DeviceEvents& device,
                  TraceWriter& out) {
    out.name("process_name", process, 0, device.name);
    out.name("thread_name", process, kKernelThread, "kernels");
    out.name("thread_name", process, kExchangeThread, "exchanges");
    for (const Event& event : device.events) {
        const Call& call = recording.calls[static_cast<std::size_t>(event.call)];
        const int thread = call.exchange ? kExchangeThread : kKernelThread;
        const std::string name = call.path.empty() ? call.op : call.op + " " + call.path;
        out.span(process, thread, name, call.exchange ? "exchange" : call.phase, event.start_us,
                 event.duration_us,
                 {{"kernel", call.kernel},
                  {"phase", call.phase},
                  {"predicted_us", call.predicted_us},
                  {"best_us", call.best_us}});
        if (event.waited_us > 0) {
            out.span(process, thread, "waiting", "waiting", event.start_us, event.waited_us);
        }
    }
}

} // namespace

std::string to_trace(const Recording& recording) {
    TraceWriter out;
    write_host(recording, out);
    for (std::size_t device = 0; device < recording.devices.size(); ++device) {
        write_device(recording, static_cast<int>(device) + 1, recording.devices[device], out);
    }
    return std::move(out).finish();
}

} // namespace weft::profile
