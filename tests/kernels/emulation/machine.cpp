// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/machine.h"

#include "kernels/cuda/faults.h"
#include "kernels/op.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

using weft::test::Access;
using weft::test::Meeting;
using weft::test::OrderChecker;
using weft::test::VectorClock;

namespace {

enum class ItemKind { work, record, wait, meet, mark };

struct Item {
    ItemKind kind = ItemKind::work;
    std::function<void()> work;
    std::function<std::shared_ptr<Meeting>()> come;
    weft_event* event = nullptr;
    weft_mark* mark = nullptr;
    std::vector<Access> accesses;
    std::string name;
    // Once it is queued to be done:
    std::int64_t ticket = 0; // of the event
    std::shared_ptr<Meeting> meeting;
};

} // namespace

struct weft_event {
    weft_device* device = nullptr;
    std::int64_t recorded = 0, done = 0; // tickets
    VectorClock clock;
    weft_graph* captured_in = nullptr; // the last record was captured
};

struct weft_stream {
    weft_device* device = nullptr;
    int number = 0;
    std::deque<Item> items;
    bool busy = false; // somebody does the first item
    std::int64_t queued = 0;
    VectorClock clock;
    weft_graph* capturing = nullptr;
};

struct weft_graph {
    weft_stream* origin = nullptr;
    std::vector<std::pair<weft_stream*, Item>> items;
    std::set<weft_stream*> streams;
    std::map<weft_stream*, VectorClock> clocks; // of the capture
    std::map<weft_event*, VectorClock> events;
};

struct weft_device {
    int index = 0;
    int streams = 0;
    std::int64_t held = 0; // beside arenas, of what the machine has reserved
    VectorClock host; // what the host knows to be done
    std::int64_t works = 0; // done
    bool is_asked = false;  // again and again, for what is not done yet
    OrderChecker checker;
    std::string fault; // final
};

namespace {

using weft::kernels::fail;
using weft::test::MachineCounts;
using weft::test::MachineOptions;

constexpr std::chrono::milliseconds kPatience{10000}; // with which nothing can be done
constexpr std::chrono::microseconds kSlowWork{300};   // a piece of work of a slow device, at least

struct Machine {
    std::mutex mutex;
    std::condition_variable changed;
    MachineOptions options;
    MachineCounts counts;
    std::vector<std::string> faults;
    std::vector<weft_stream*> streams;
    std::map<int, std::int64_t> reserved; // by device
    std::uint64_t random = 1;
    std::int64_t works = 0; // done
};

Machine& machine() {
    static Machine one;
    return one;
}

/// Of this thread, from AccessScope.
thread_local std::vector<Access> scope_accesses;
thread_local std::string scope_name = "work without a name";

/// The machine's lock is held.
std::int64_t memory_of(int device) {
    const std::vector<std::int64_t>& list = machine().options.memory_bytes;
    return list[std::min(static_cast<std::size_t>(device), list.size() - 1)];
}

/// The clock of all devices: that of the host.
std::uint64_t now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::uint64_t draw(std::uint64_t below) {
    std::uint64_t& x = machine().random; // xorshift64
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x % below;
}

VectorClock& at_least(VectorClock& clock, int stream) {
    clock.resize(std::max(clock.size(), static_cast<std::size_t>(stream) + 1), -1);
    return clock;
}

/// Items of a stream are numbered; the machine's lock is held.
void commit(weft_stream& stream, Item item) {
    weft_device& device = *stream.device;
    const std::int64_t number = stream.queued++;
    weft::test::merge(stream.clock, device.host);
    at_least(stream.clock, stream.number)[static_cast<std::size_t>(stream.number)] = number;
    if (item.kind == ItemKind::record) {
        item.ticket = ++item.event->recorded;
        item.event->clock = stream.clock;
        item.event->captured_in = nullptr;
    } else if (item.kind == ItemKind::wait) {
        if (machine().counts.waits++ == machine().options.dropped_wait) {
            return;
        }
        item.ticket = item.event->recorded;
        weft::test::merge(stream.clock, item.event->clock);
    } else {
        const std::string text =
            device.checker.touch(item.accesses, stream.number, number, stream.clock, item.name);
        if (!text.empty()) {
            machine().faults.push_back(text);
            device.fault = device.fault.empty() ? text : device.fault;
        }
    }
    if (item.kind == ItemKind::meet) {
        item.meeting = item.come();
    }
    stream.items.push_back(std::move(item));
}

void capture(weft_stream& stream, Item item) {
    weft_graph& graph = *stream.capturing;
    VectorClock& clock = at_least(graph.clocks[&stream], stream.number);
    clock[static_cast<std::size_t>(stream.number)] = static_cast<std::int64_t>(graph.items.size());
    if (item.kind == ItemKind::record) {
        graph.events[item.event] = clock;
        item.event->captured_in = &graph;
    } else if (item.kind == ItemKind::wait) {
        weft::test::merge(clock, graph.events.at(item.event));
    }
    graph.items.emplace_back(&stream, std::move(item));
}

weft_status queue_item(weft_stream* stream, Item item) {
    const std::lock_guard lock(machine().mutex);
    if (!stream->device->fault.empty()) {
        return fail(WEFT_LIBRARY_ERROR, stream->device->fault.c_str());
    }
    if (item.kind == ItemKind::wait && item.event->captured_in != nullptr &&
        stream->capturing == nullptr) { // it joins the capture
        stream->capturing = item.event->captured_in;
        stream->capturing->streams.insert(stream);
    }
    if (stream->capturing == nullptr) {
        commit(*stream, std::move(item));
        machine().changed.notify_all();
        return WEFT_OK;
    }
    if (item.kind == ItemKind::wait && item.event->captured_in != stream->capturing) {
        return fail(WEFT_LIBRARY_ERROR, "a captured stream waits for what is not captured");
    }
    capture(*stream, std::move(item));
    return WEFT_OK;
}

/// Nothing is done any more on a device that has failed.
bool is_dead(const weft_stream& stream) {
    return !stream.device->fault.empty();
}

bool is_ready(const weft_stream& stream) {
    if (stream.busy || stream.items.empty() || is_dead(stream)) {
        return false;
    }
    const Item& first = stream.items.front();
    if (first.kind == ItemKind::wait) {
        return first.event->done >= first.ticket;
    }
    if (first.kind == ItemKind::meet) {
        return !first.meeting->refused.empty() ||
               (std::all_of(first.meeting->streams.begin(), first.meeting->streams.end(),
                            [&](const weft_stream* other) {
                                return other != nullptr && !is_dead(*other) && !other->busy &&
                                       !other->items.empty() &&
                                       other->items.front().meeting == first.meeting;
                            }) &&
                (!first.meeting->others_come || first.meeting->others_come()));
    }
    return true;
}

struct Trouble {
    bool fails = false;
    bool hangs = false; // it never ends: its streams stay busy
};

/// Counts a piece of work. A meeting is no device's own: whichever is looked at first begins it.
Trouble next_trouble(weft_device& device, const Item& item) {
    const MachineOptions& options = machine().options;
    const bool works = item.kind == ItemKind::work;
    const bool meets = item.kind == ItemKind::meet && item.meeting->refused.empty();
    const std::int64_t of_all = machine().works++;
    const std::int64_t of_device = device.works;
    const std::int64_t meetings = machine().counts.meetings;
    device.works += works ? 1 : 0;
    machine().counts.meetings += meets ? 1 : 0;
    const bool own = works && options.troubled == device.index;
    const auto now = [&](std::int64_t number) {
        return options.troubled < 0 ? of_all == number : own && of_device == number;
    };
    return {now(options.works_before_fault),
            now(options.works_before_hang) || (meets && meetings == options.meetings_before_hang)};
}

/// Does the first item of a stream that is ready; the lock is given away meanwhile.
void do_item(std::unique_lock<std::mutex>& lock, weft_stream& stream) {
    const Item item = stream.items.front();
    std::vector<weft_stream*> doing{&stream};
    if (item.kind == ItemKind::record) {
        item.event->done = std::max(item.event->done, item.ticket);
    } else if (item.kind == ItemKind::work || item.kind == ItemKind::meet) {
        const Trouble trouble = next_trouble(*stream.device, item);
        const bool meets =
            item.kind == ItemKind::meet && item.meeting->refused.empty() && !trouble.fails;
        if (meets) {
            doing = item.meeting->streams;
        }
        for (weft_stream* one : doing) {
            one->busy = true;
        }
        if (trouble.hangs) {
            return;
        }
        std::string fault = item.kind == ItemKind::meet ? item.meeting->refused : "";
        if (trouble.fails) {
            fault = "the emulated device has fallen off the bus";
        }
        lock.unlock();
        try {
            if (item.kind == ItemKind::work && stream.device->index == machine().options.slow) {
                std::this_thread::sleep_for(kSlowWork);
            }
            if (fault.empty()) {
                meets ? item.meeting->work() : item.work();
            }
        } catch (const weft::kernels::Failure& failure) {
            fault = item.name + ": " + failure.text;
        }
        lock.lock();
        for (weft_stream* one : doing) {
            one->busy = false;
            if (!fault.empty() && one->device->fault.empty()) {
                one->device->fault = fault;
            }
        }
    } else if (item.kind == ItemKind::mark) {
        const std::uint64_t number = item.mark->count + 1;
        item.mark->ns[number % 2] = now_ns();
        __atomic_store_n(&item.mark->count, number, __ATOMIC_RELEASE);
    }
    for (weft_stream* one : doing) {
        one->items.pop_front();
    }
    machine().changed.notify_all();
}

/// What the streams wait for; the machine's lock is held.
std::string standing() {
    constexpr const char* kKinds[] = {"work", "record", "wait", "meet", "mark"};
    std::string out;
    for (const weft_stream* stream : machine().streams) {
        out += (out.empty() ? "device " : "; device ") + std::to_string(stream->device->index) +
               " stream " + std::to_string(stream->number) + ": ";
        out += stream->items.empty()
                   ? "nothing"
                   : std::string(kKinds[static_cast<int>(stream->items.front().kind)]) + " " +
                         stream->items.front().name + (stream->busy ? ", busy" : "");
    }
    return out;
}

/// The slow device does nothing before the others have done all that they can.
void put_off_slow(std::vector<weft_stream*>& ready) {
    const int slow = machine().options.slow;
    const auto fast = [slow](const weft_stream* one) { return one->device->index != slow; };
    if (std::any_of(ready.begin(), ready.end(), fast)) {
        std::erase_if(ready, [&](const weft_stream* one) { return !fast(one); });
    }
}

/// Does what can be done until `ended`. The device's fault counts as an end; with less patience it
/// is no fault that nothing could be done.
template <class Ended>
weft_status drive(weft_device& device, const Ended& ended,
                  std::chrono::milliseconds patience = kPatience) {
    std::unique_lock lock(machine().mutex);
    while (!ended()) {
        if (!device.fault.empty()) {
            return fail(WEFT_LIBRARY_ERROR, device.fault.c_str());
        }
        std::vector<weft_stream*> ready;
        for (weft_stream* stream : machine().streams) {
            if (is_ready(*stream)) {
                ready.push_back(stream);
            }
        }
        put_off_slow(ready);
        if (!ready.empty()) {
            do_item(lock, *ready[draw(ready.size())]);
        } else if (machine().changed.wait_for(lock, patience) == std::cv_status::timeout) {
            if (patience < kPatience) {
                break;
            }
            return fail(
                WEFT_LIBRARY_ERROR,
                ("the emulated device waits for what does not come: " + standing()).c_str());
        }
    }
    if (!device.fault.empty()) {
        return fail(WEFT_LIBRARY_ERROR, device.fault.c_str());
    }
    return WEFT_OK;
}

/// As drive, for a host that waits; where there is something to wait for, it is counted.
template <class Ended>
weft_status wait_until(weft_device& device, const Ended& ended) {
    {
        const std::lock_guard lock(machine().mutex);
        machine().counts.host_waits += ended() ? 0 : 1;
    }
    return drive(device, ended);
}

weft_status count_devices(std::int32_t* devices) {
    *devices = machine().options.devices;
    return WEFT_OK;
}

weft_status describe_device(std::int32_t index, weft_device_facts* facts) {
    if (index < 0 || index >= machine().options.devices) {
        return fail(WEFT_BAD_ARGUMENT, "the emulated machine has no such device");
    }
    const std::lock_guard lock(machine().mutex);
    *facts = {};
    std::snprintf(facts->name, sizeof facts->name, "emulated GPU");
    std::snprintf(facts->id, sizeof facts->id, "emulated-%d", index);
    facts->capability = 90;
    facts->processors = 1;
    facts->memory_bytes = memory_of(index);
    facts->free_bytes = facts->memory_bytes - machine().reserved[index];
    return WEFT_OK;
}

void hold(weft_device& device, std::int64_t bytes) {
    const std::lock_guard lock(machine().mutex);
    device.held += bytes;
    machine().reserved[device.index] += bytes;
}

weft_status open_device(std::int32_t index, weft_device** device) {
    if (index < 0 || index >= machine().options.devices) {
        return fail(WEFT_BAD_ARGUMENT, "the emulated machine has no such device");
    }
    *device = new weft_device;
    (*device)->index = index;
    hold(**device, machine().options.context_bytes);
    return WEFT_OK;
}

void close_device(weft_device* device) {
    hold(*device, -device->held);
    delete device;
}

weft_status enter_device(weft_device*) {
    return WEFT_OK;
}

weft_status reserve(weft_device* device, std::int64_t bytes, void** arena) {
    const std::lock_guard lock(machine().mutex);
    std::int64_t& reserved = machine().reserved[device->index];
    if (reserved + bytes > memory_of(device->index)) {
        return fail(WEFT_OUT_OF_MEMORY, "the emulated device has no such memory");
    }
    constexpr std::size_t kAlignment = 256;
    const std::size_t size =
        (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + kAlignment - 1) / kAlignment *
        kAlignment;
    *arena = std::aligned_alloc(kAlignment, size);
    if (*arena == nullptr) {
        return fail(WEFT_OUT_OF_MEMORY, "no memory to emulate a device's");
    }
    std::memset(*arena, 0, size);
    reserved += bytes;
    return WEFT_OK;
}

weft_status take(weft_device*, void*, std::int64_t, std::int64_t) {
    return WEFT_OK; // all of it is there
}

void give_back(weft_device* device, void* arena, std::int64_t bytes) {
    const std::lock_guard lock(machine().mutex);
    machine().reserved[device->index] -= bytes;
    std::free(arena);
}

weft_status reserve_host(weft_device*, std::int64_t bytes, void** memory) {
    *memory = std::malloc(static_cast<std::size_t>(bytes));
    return *memory == nullptr ? fail(WEFT_OUT_OF_MEMORY, "no host memory") : WEFT_OK;
}

void give_back_host(weft_device*, void* memory, std::int64_t) {
    std::free(memory);
}

weft_status make_stream(weft_device* device, weft_stream** stream) {
    const std::lock_guard lock(machine().mutex);
    *stream = new weft_stream;
    (*stream)->device = device;
    (*stream)->number = device->streams++;
    machine().streams.push_back(*stream);
    return WEFT_OK;
}

void drop_stream(weft_stream* stream) {
    const std::lock_guard lock(machine().mutex);
    std::erase(machine().streams, stream);
    delete stream;
}

weft_status finish(weft_stream* stream) {
    if (stream->capturing != nullptr) {
        return fail(WEFT_LIBRARY_ERROR, "the host waits for a stream that is captured");
    }
    const weft_status status =
        wait_until(*stream->device, [&] { return stream->items.empty() && !stream->busy; });
    if (status != WEFT_OK) {
        return status;
    }
    {
        const std::lock_guard lock(machine().mutex);
        weft::test::merge(stream->device->host, stream->clock);
    }
    return weft::kernels::cuda::reported_fault();
}

/// Does some items, of whichever streams, before it answers: somebody has to, and who asks sleeps
/// until it asks again.
template <class Ended>
weft_status ask(weft_device& device, const Ended& ended, std::int32_t* answer) {
    constexpr int kItems = 50;
    int turns = 0;
    bool done = false;
    bool at_once = false;
    {
        const std::lock_guard lock(machine().mutex);
        at_once = ended();
        machine().counts.host_waits += at_once || device.is_asked ? 0 : 1;
        device.is_asked = device.is_asked || !at_once;
    }
    const weft_status status = drive(
        device,
        [&] {
            done = ended();
            return done || turns++ == kItems;
        },
        std::chrono::milliseconds(1));
    *answer = done ? 1 : 0;
    const std::lock_guard lock(machine().mutex);
    device.is_asked = device.is_asked && (at_once || !done);
    return status;
}

weft_status is_finished(weft_stream* stream, std::int32_t* finished) {
    return ask(
        *stream->device, [&] { return stream->items.empty() && !stream->busy; }, finished);
}

std::vector<Access> one_access(const void* memory, std::int64_t bytes, bool writes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {{begin, begin + static_cast<std::uintptr_t>(bytes), writes}};
}

weft_status queue_copy(weft_stream* stream, void* to, const void* from, std::int64_t bytes,
                       std::vector<Access> accesses, const char* name) {
    Item item;
    item.work = [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); };
    item.accesses = std::move(accesses);
    item.name = name;
    return queue_item(stream, std::move(item));
}

weft_status upload(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    return queue_copy(stream, to, from, bytes, one_access(to, bytes, true), "an upload");
}
weft_status download(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    return queue_copy(stream, to, from, bytes, one_access(from, bytes, false), "a download");
}

weft_status copy_within(weft_stream* stream, void* to, const void* from, std::int64_t bytes) {
    std::vector<Access> accesses = one_access(to, bytes, true);
    accesses.push_back(one_access(from, bytes, false).front());
    return queue_copy(stream, to, from, bytes, std::move(accesses), "a copy");
}

weft_status make_event(weft_device* device, weft_event** event) {
    *event = new weft_event;
    (*event)->device = device;
    return WEFT_OK;
}

void drop_event(weft_event* event) {
    if (event != nullptr) {
        delete event;
    }
}

weft_status queue_event(weft_stream* stream, weft_event* event, ItemKind kind) {
    Item item;
    item.kind = kind;
    item.event = event;
    return queue_item(stream, std::move(item));
}

weft_status record(weft_event* event, weft_stream* stream) {
    return queue_event(stream, event, ItemKind::record);
}
weft_status wait(weft_stream* stream, weft_event* event) {
    return queue_event(stream, event, ItemKind::wait);
}

weft_status await(weft_event* event) {
    const std::int64_t ticket = event->recorded;
    const weft_status status = wait_until(*event->device, [&] { return event->done >= ticket; });
    if (status != WEFT_OK) {
        return status;
    }
    {
        const std::lock_guard lock(machine().mutex);
        weft::test::merge(event->device->host, event->clock);
    }
    return weft::kernels::cuda::reported_fault();
}

/// Does some items, as is_finished.
weft_status is_past(weft_event* event, std::int32_t* past) {
    const std::int64_t ticket = event->recorded;
    const weft_status status = ask(
        *event->device, [&] { return event->done >= ticket; }, past);
    if (*past != 0) {
        const std::lock_guard lock(machine().mutex);
        weft::test::merge(event->device->host, event->clock);
    }
    return status;
}

weft_status mark(weft_stream* stream, weft_mark* mark) {
    Item item;
    item.kind = ItemKind::mark;
    item.mark = mark;
    return queue_item(stream, std::move(item));
}

weft_status begin_graph(weft_stream* stream) {
    if (stream->capturing != nullptr) {
        return fail(WEFT_LIBRARY_ERROR, "the stream is captured already");
    }
    stream->capturing = new weft_graph;
    stream->capturing->origin = stream;
    stream->capturing->streams.insert(stream);
    return WEFT_OK;
}

weft_status end_graph(weft_stream* stream, weft_graph** graph) {
    *graph = std::exchange(stream->capturing, nullptr);
    VectorClock& own = (*graph)->clocks[stream];
    bool joined = true;
    for (weft_stream* other : (*graph)->streams) {
        other->capturing = nullptr;
        const auto number = static_cast<std::size_t>(other->number);
        const VectorClock& clock = (*graph)->clocks[other];
        joined = joined && (other == stream || number >= clock.size() ||
                            (number < own.size() && own[number] >= clock[number]));
    }
    for (const auto& [event, clock] : (*graph)->events) {
        event->captured_in = nullptr;
    }
    return joined ? WEFT_OK
                  : fail(WEFT_LIBRARY_ERROR, "a captured stream was not joined with the first");
}

weft_status replay(weft_graph* graph, weft_stream* stream) {
    if (stream != graph->origin) {
        return fail(WEFT_BAD_ARGUMENT, "the emulation replays a graph on the stream it came from");
    }
    const std::lock_guard lock(machine().mutex);
    ++machine().counts.replays;
    for (const auto& [of, item] : graph->items) {
        commit(*of, item);
    }
    machine().changed.notify_all();
    return WEFT_OK;
}

void drop_graph(weft_graph* graph) {
    delete graph;
}

constexpr weft_platform kEmulatedPlatform = {
    .name = "cuda",
    .host_reaches_memory = 0,
    .count = count_devices,
    .describe = describe_device,
    .open = open_device,
    .close = close_device,
    .enter = enter_device,
    .reserve = reserve,
    .take = take,
    .give_back = give_back,
    .reserve_host = reserve_host,
    .give_back_host = give_back_host,
    .make_stream = make_stream,
    .drop_stream = drop_stream,
    .finish = finish,
    .is_finished = is_finished,
    .upload = upload,
    .download = download,
    .copy = copy_within,
    .make_event = make_event,
    .drop_event = drop_event,
    .record = record,
    .wait = wait,
    .await = await,
    .is_past = is_past,
    .mark = mark,
    .begin_graph = begin_graph,
    .end_graph = end_graph,
    .replay = replay,
    .drop_graph = drop_graph,
    .last_error = weft_last_error,
};

void require_queued(weft_status status) {
    if (status != WEFT_OK) {
        throw weft::kernels::Failure{status, weft_last_error()};
    }
}

} // namespace

namespace weft::test {

void set_machine(const MachineOptions& options) {
    Machine& one = machine();
    const std::lock_guard lock(one.mutex);
    one.options = options;
    one.counts = {};
    one.works = 0;
    one.reserved.clear(); // what hung on the machine before holds memory for ever
    one.faults.clear();
    one.random = options.seed == 0 ? 1 : options.seed;
}

MachineOptions machine_options() {
    const std::lock_guard lock(machine().mutex);
    return machine().options;
}

MachineCounts machine_counts() {
    const std::lock_guard lock(machine().mutex);
    return machine().counts;
}

MachineLoad machine_load(int device) {
    Machine& one = machine();
    const std::lock_guard lock(one.mutex);
    const auto reserved = one.reserved.find(device);
    return {one.options.devices, memory_of(device),
            reserved == one.reserved.end() ? 0 : reserved->second, one.works};
}

std::vector<std::string> order_faults() {
    const std::lock_guard lock(machine().mutex);
    return machine().faults;
}

void hold_group(weft_device* device) {
    hold(*device, machine().options.group_bytes);
}

void queue_work(weft_stream* stream, std::function<void()> work) {
    if (stream == nullptr) {
        work();
        return;
    }
    Item item;
    item.work = std::move(work);
    item.accesses = scope_accesses;
    item.name = scope_name;
    require_queued(queue_item(stream, std::move(item)));
}

void refuse_meetings(const std::vector<std::weak_ptr<Meeting>>& meetings,
                     const std::string& reason) {
    const std::lock_guard lock(machine().mutex);
    for (const std::weak_ptr<Meeting>& one : meetings) {
        if (const auto meeting = one.lock()) {
            meeting->refused = meeting->refused.empty() ? reason : meeting->refused;
        }
    }
    machine().changed.notify_all();
}

void queue_meeting(weft_stream* stream, std::function<std::shared_ptr<Meeting>()> come) {
    Item item;
    item.kind = ItemKind::meet;
    item.come = std::move(come);
    item.accesses = scope_accesses;
    item.name = scope_name;
    require_queued(queue_item(stream, std::move(item)));
}

AccessScope::AccessScope(std::vector<Access> accesses, std::string name) {
    scope_accesses = std::move(accesses);
    scope_name = std::move(name);
}

AccessScope::~AccessScope() {
    scope_accesses.clear();
    scope_name = "work without a name";
}

} // namespace weft::test

const weft_platform* weft_emulated_platform() {
    return &kEmulatedPlatform;
}
