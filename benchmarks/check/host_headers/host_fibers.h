// Runs a grid: workgroup by workgroup, wave by wave, lane by lane. A lane runs until it needs the others of its wave (a meeting)
// or of its workgroup (a barrier), or ends. Waves have 32 lanes.
#pragma once

#include <ucontext.h>

#include "host_vectors.h"

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 from) : x(from.x), y(from.y), z(from.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

namespace expctl_host {

constexpr int WAVE = 32, THREADS_MOST = 1024;
constexpr size_t STACK_BYTES = 256 << 10, MESSAGE_BYTES = 128, CALLS_MOST = 16;

enum State { READY, MEETING, AT_BARRIER, ENDED };

// The meeting that a lane waits at: the places in the code from which it was called, the outermost first. In a program that is
// not optimised a place that lies before another in the source is less.
typedef std::array<uintptr_t, CALLS_MOST> Place;

struct Fiber {
    ucontext_t context;
    uint3 index;
    int wave, lane;
    State state;
    const void *base;  // the frame of the first function on its stack
    Place place;
    unsigned char message[MESSAGE_BYTES];
};

// What the lanes of a wave brought to its last meeting; zero for the lanes that didn't come.
struct Meeting {
    unsigned lanes;
    unsigned char messages[WAVE][MESSAGE_BYTES];
};

static Fiber fibers[THREADS_MOST];
static Meeting meetings[THREADS_MOST / WAVE];
static unsigned char *stacks;
static ucontext_t scheduler;
static Fiber *self;
static void (*body)();
static bool is_backward;  // whether workgroups, waves and lanes run from the last to the first

[[noreturn]] static void refuse(const char *why) {
    std::fprintf(stderr, "%s\n", why);
    std::exit(3);
}

static void wait_as(State state) {
    self->state = state;
    swapcontext(&self->context, &scheduler);
}

static Place place_of(void **frame) {
    Place place = {};
    size_t calls = 0;
    for (; frame != self->base; frame = static_cast<void **>(*frame)) {
        if (calls == CALLS_MOST) refuse("lanes meet below too many calls");
        place[calls++] = reinterpret_cast<uintptr_t>(frame[1]);
    }
    std::reverse(place.begin(), place.begin() + calls);
    return place;
}

// Waits for the lanes of the wave that come to the same place, and returns what they brought. Convergent: the compiler must
// neither copy nor merge calls of it, or lanes that meet in the source would not.
__attribute__((noinline, convergent)) static const Meeting &meet(const void *message, size_t bytes) {
    std::memcpy(self->message, message, bytes);
    self->place = place_of(static_cast<void **>(__builtin_frame_address(0)));
    wait_as(MEETING);
    return meetings[self->wave];
}

template <class T> struct Lanes {
    T value[WAVE];
    unsigned active;
    bool has(int lane) const { return lane >= 0 && lane < WAVE && (active >> lane & 1); }
};

template <class T> HOST_INLINE Lanes<T> gathered(const T &mine) {
    static_assert(sizeof(T) <= MESSAGE_BYTES, "a message is short");
    const Meeting &meeting = meet(&mine, sizeof(T));
    Lanes<T> all;
    all.active = meeting.lanes;
    for (int lane = 0; lane < WAVE; ++lane) std::memcpy(&all.value[lane], meeting.messages[lane], sizeof(T));
    return all;
}

static void run_fiber() {
    self->base = __builtin_frame_address(0);
    body();
    wait_as(ENDED);
}

static int in_order(int i, int count) { return is_backward ? count - 1 - i : i; }

static void resume(Fiber &fiber) {
    self = &fiber;
    threadIdx = fiber.index;
    swapcontext(&scheduler, &fiber.context);
}

// Ends the first meeting in the order of the source that lanes of a wave wait for, so that those inside of a branch or loop meet
// before those that wait behind it; false if none waits.
static bool end_meeting(Fiber *lanes, int count, Meeting &meeting) {
    const Fiber *first = nullptr;
    for (int lane = 0; lane < count; ++lane)
        if (lanes[lane].state == MEETING && (!first || lanes[lane].place < first->place)) first = &lanes[lane];
    if (!first) return false;
    const Place place = first->place;
    meeting = {};
    for (int lane = 0; lane < count; ++lane) {
        if (lanes[lane].state != MEETING || lanes[lane].place != place) continue;
        lanes[lane].state = READY;
        meeting.lanes |= 1u << lane;
        std::memcpy(meeting.messages[lane], lanes[lane].message, MESSAGE_BYTES);
    }
    return true;
}

// Runs the lanes of a wave until each is at a barrier or has ended.
static void run_wave(Fiber *lanes, int count, Meeting &meeting) {
    do
        for (int i = 0; i < count; ++i)
            if (Fiber &lane = lanes[in_order(i, count)]; lane.state == READY) resume(lane);
    while (end_meeting(lanes, count, meeting));
}

static void begin(Fiber &fiber, int thread) {
    const unsigned row = thread / blockDim.x;
    fiber.index = {thread % blockDim.x, row % blockDim.y, row / blockDim.y};
    fiber.wave = thread / WAVE, fiber.lane = thread % WAVE, fiber.state = READY;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + thread * STACK_BYTES;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber.context, run_fiber, 0);
}

static bool end_barrier(int threads) {
    bool any = false;
    for (int i = 0; i < threads; ++i)
        if (fibers[i].state == AT_BARRIER) fibers[i].state = READY, any = true;
    return any;
}

static void run_workgroup() {
    const int threads = blockDim.x * blockDim.y * blockDim.z, waves = (threads + WAVE - 1) / WAVE;
    for (int i = 0; i < threads; ++i) begin(fibers[i], i);
    do
        for (int i = 0; i < waves; ++i) {
            const int wave = in_order(i, waves), first = wave * WAVE;
            run_wave(fibers + first, std::min(WAVE, threads - first), meetings[wave]);
        }
    while (end_barrier(threads));
}

static void run_grid() {
    const int groups = gridDim.x * gridDim.y * gridDim.z;
    stacks = static_cast<unsigned char *>(std::malloc(THREADS_MOST * STACK_BYTES));
    for (int i = 0; i < groups; ++i) {
        const unsigned group = in_order(i, groups), row = group / gridDim.x;
        blockIdx = {group % gridDim.x, row % gridDim.y, row / gridDim.y};
        run_workgroup();
    }
}

}  // namespace expctl_host

HOST_INLINE void __syncthreads() { expctl_host::wait_as(expctl_host::AT_BARRIER); }
HOST_INLINE void __syncwarp(unsigned long long = ~0ull) { expctl_host::gathered(char()); }
HOST_INLINE void __threadfence() {}
HOST_INLINE void __threadfence_block() {}
HOST_INLINE void __threadfence_system() {}
HOST_INLINE void __builtin_amdgcn_fence(unsigned, const char *) {}
HOST_INLINE void __builtin_amdgcn_s_barrier() { __syncthreads(); }
HOST_INLINE void __builtin_amdgcn_wave_barrier() { __syncwarp(); }
