// Runs a kernel on the host: the workgroups one after the other, a workgroup's threads as threads with a barrier.
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define __global__
#define __device__
#define __constant__
#define __shared__ static

struct Index {
    unsigned x, y, z;
};
static thread_local Index threadIdx;
static Index blockIdx, blockDim, gridDim;

// `bytes` of memory hold all arguments; `run` calls the kernel with them, as one thread.
struct Launch {
    void (*run)(unsigned char *memory);
    size_t bytes;
    unsigned groups, x, y;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    unsigned waiting, turn, threads;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static void __syncthreads() {
    pthread_mutex_lock(&barrier.mutex);
    unsigned turn = barrier.turn;
    if (++barrier.waiting == barrier.threads) {
        barrier.waiting = 0, ++barrier.turn;
        pthread_cond_broadcast(&barrier.all_here);
    }
    while (turn == barrier.turn) pthread_cond_wait(&barrier.all_here, &barrier.mutex);
    pthread_mutex_unlock(&barrier.mutex);
}

struct Thread {
    pthread_t handle;
    const Launch *launch;
    unsigned char *memory;
    Index index;
};

static void *run_thread(void *given) {
    const Thread &thread = *(const Thread *)given;
    threadIdx = thread.index;
    thread.launch->run(thread.memory);
    return nullptr;
}

static void run_group(const Launch &launch, unsigned char *memory) {
    Thread *threads = (Thread *)calloc(barrier.threads, sizeof(Thread));
    for (unsigned i = 0; i < barrier.threads; ++i) {
        threads[i] = {{}, &launch, memory, {i % launch.x, i / launch.x, 0}};
        if (pthread_create(&threads[i].handle, nullptr, run_thread, &threads[i])) abort();
    }
    for (unsigned i = 0; i < barrier.threads; ++i) pthread_join(threads[i].handle, nullptr);
    free(threads);
}

// Reads the memory from stdin, runs the launch, writes the memory to stdout.
static int run_launch(const Launch &launch) {
    unsigned char *memory = (unsigned char *)aligned_alloc(64, (launch.bytes + 63) / 64 * 64);
    if (fread(memory, 1, launch.bytes, stdin) != launch.bytes) return 3;
    barrier.threads = launch.x * launch.y;
    blockDim = {launch.x, launch.y, 1};
    gridDim = {launch.groups, 1, 1};
    for (unsigned group = 0; group < launch.groups; ++group) {
        blockIdx = {group, 0, 0};
        run_group(launch, memory);
    }
    bool is_written = fwrite(memory, 1, launch.bytes, stdout) == launch.bytes && fflush(stdout) == 0;
    free(memory);
    return is_written ? 0 : 4;
}
