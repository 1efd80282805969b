/* A plain breadth-first explorer: a growing table of 64-bit fingerprints, two arrays of states.
 *
 * Prints one JSON object: states, transitions, depth, seconds, bytes, violations. A fingerprint may
 * collide (about states squared over 2^65); that is the price of this peer, not of foldproof.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kernel.h"

static uint64_t *table;
static size_t room = 1 << 16, states;

static uint64_t fingerprint(const session *s) {
    uint64_t words[(sizeof(session) + 7) / 8] = {0}, hash = 0x9E3779B97F4A7C15u;
    memcpy(words, s, sizeof *s);
    for (size_t i = 0; i < sizeof words / 8; i++) {
        hash = (hash ^ words[i]) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

static void *take(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "explorer: out of memory for %zu bytes\n", bytes);
        exit(3);
    }
    return memory;
}

static int enter(uint64_t hash) { /* 1 when the fingerprint is new */
    size_t place = hash & (room - 1);
    for (; table[place]; place = (place + 1) & (room - 1))
        if (table[place] == hash) return 0;
    table[place] = hash;
    if (++states * 2 > room) {
        uint64_t *old = table;
        size_t old_room = room;
        room *= 2;
        table = take(room * sizeof *table);
        for (size_t i = 0; i < old_room; i++)
            if (old[i]) {
                for (place = old[i] & (room - 1); table[place]; place = (place + 1) & (room - 1)) {}
                table[place] = old[i];
            }
        free(old);
    }
    return 1;
}

typedef struct {
    session *items;
    size_t count, room;
} layer;

static void push(layer *to, const session *s) {
    if (to->count == to->room) {
        to->room = to->room ? to->room * 2 : 1024;
        to->items = realloc(to->items, to->room * sizeof *to->items);
        if (!to->items) exit(3);
    }
    to->items[to->count++] = *s;
}

static layer now, next;
static uint64_t transitions, violations;

static void reach(const session *t) {
    transitions++;
    if (!enter(fingerprint(t))) return;
    if (holds(t))
        push(&next, t);
    else
        violations++;
}

int main(void) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    table = take(room * sizeof *table);
    session initial;
    memset(&initial, 0, sizeof initial);
    initial.enabled = 1;
    enter(fingerprint(&initial));
    push(&now, &initial);
    int depth = 0;
    for (; now.count; depth++) {
        for (size_t i = 0; i < now.count; i++) {
            const session *s = &now.items[i];
            session after, *t = &after;
#define TAKE(can, effect)  \
    if (can) {             \
        after = *s;        \
        effect;            \
        reach(t);          \
    }
            EVERY_EVENT(s, TAKE)
        }
        layer spare = now;
        now = next;
        next = spare;
        next.count = 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    size_t bytes = room * sizeof *table + (now.room + next.room) * sizeof(session);
    printf("{\"states\": %zu, \"transitions\": %llu, \"depth\": %d, \"seconds\": %.3f, \"bytes\": %zu, "
           "\"violations\": %llu}\n",
           states, (unsigned long long)transitions, depth, seconds, bytes, (unsigned long long)violations);
    return violations ? 1 : 0;
}
