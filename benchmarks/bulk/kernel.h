/* The core kernel under the full design, in plain C: the peer that the benchmark is run against.
 *
 * A faster twin of foldproof/model, and only that: one design, no faults. What a memory covers is what
 * its place says (a span covers itself, a frozen memory its stretch, the state memory what lies between
 * the last frozen one and the epoch), which under this design is so; that makes the state smaller than
 * the model's. Unused bytes are zero, so states are equal when their bytes are. Indices count from 0.
 */
#ifndef KERNEL_H
#define KERNEL_H
#include <string.h>

#ifndef BOUND
#define BOUND 4 /* the most messages a history may hold */
#endif
#define NODES ((BOUND + 1) / 2)
#define NOWHERE 255

typedef unsigned char byte_t;
enum letter { PROMPT = 1, REPLY, OPEN, CLOSE, NEXT, RECEIPT, SUMMARY };
enum gauge_kind { ESTIMATE = 0, MEASURED = 1 };

typedef struct {
    byte_t length, history[BOUND];
    byte_t nodes, opened_at[NODES], closed_at[NODES]; /* closed_at NOWHERE: open */
    byte_t frozen, frozen_at[BOUND];                  /* where each frozen memory ends */
    byte_t frozen_end, has_state, epoch_start_at;
    byte_t gauge_length, gauge_tokens, gauge_kind, last_observed;
    byte_t pending, carrier, cursor; /* pending: OPEN, CLOSE, NEXT or 0 */
    byte_t enabled;
} session;

static inline int cost(byte_t letter) { return letter == SUMMARY ? 1 : 2; }

static inline int estimate_from(const session *s, int start) {
    int sum = 0;
    for (int i = start; i < s->length; i++) sum += cost(s->history[i]);
    return sum;
}

static inline int in_view(const session *s, int i) { /* a closed span of the current epoch */
    return s->closed_at[i] != NOWHERE && s->opened_at[i] >= s->epoch_start_at && s->opened_at[i] < s->length;
}

static inline int estimate_view(const session *s) {
    if (!s->enabled) return estimate_from(s, 0);
    int sum = s->frozen + s->has_state, place = s->epoch_start_at;
    for (int i = 0; i < s->nodes; i++) {
        if (!in_view(s, i) || (s->opened_at[i] < place && s->closed_at[i] < place)) continue;
        for (; place < s->opened_at[i]; place++) sum += cost(s->history[place]);
        sum += 1;
        if (place < s->closed_at[i] + 1) place = s->closed_at[i] + 1;
    }
    for (; place < s->length; place++) sum += cost(s->history[place]);
    return sum;
}

static inline void rebase(session *s) {
    s->gauge_length = s->length;
    s->gauge_tokens = (byte_t)estimate_view(s);
    s->gauge_kind = ESTIMATE;
}

static inline int cursor_of(const session *s) { /* position in nodes, or -1 */
    for (int i = s->nodes - 1; i >= 0; i--)
        if (s->closed_at[i] == NOWHERE && s->opened_at[i] >= s->epoch_start_at) return i;
    return -1;
}

static inline int is_carrier(byte_t letter) { return letter >= OPEN && letter <= NEXT; }

static inline void commit(session *s, int carrier) {
    byte_t kind = s->history[carrier];
    if (kind != OPEN) {
        int cursor = cursor_of(s);
        if (cursor < 0) return;
        s->closed_at[cursor] = (byte_t)(carrier - 1);
    }
    if (kind != CLOSE) {
        s->opened_at[s->nodes] = (byte_t)carrier;
        s->closed_at[s->nodes++] = NOWHERE;
    }
    if (kind != OPEN) rebase(s);
}

static inline void forget_pending(session *s) { s->pending = s->carrier = s->cursor = 0; }

static inline void settle(session *s) {
    if (s->pending) {
        int start = s->last_observed < s->length ? s->last_observed : s->length;
        for (int i = start; i + 1 < s->length; i++)
            if (i == s->carrier && is_carrier(s->history[i]) && s->history[i + 1] == RECEIPT) {
                commit(s, i);
                break;
            }
    }
    forget_pending(s);
    s->last_observed = s->length;
}

static inline void truncate_nodes(session *s, int cut, int *changed) {
    int kept = 0;
    for (int i = 0; i < s->nodes; i++) {
        if (s->opened_at[i] >= cut) continue;
        byte_t closed_at = s->closed_at[i];
        if (closed_at != NOWHERE && closed_at + 1 >= cut) closed_at = NOWHERE, *changed = 1;
        s->opened_at[kept] = s->opened_at[i];
        s->closed_at[kept++] = closed_at;
    }
    if (kept != s->nodes) *changed = 1;
    for (int i = kept; i < s->nodes; i++) s->opened_at[i] = s->closed_at[i] = 0;
    s->nodes = (byte_t)kept;
}

static inline int is_edge(const session *s, int k) {
    if (k < s->length && s->history[k] == RECEIPT) return 0;
    for (int i = 0; i < s->nodes; i++)
        if (s->closed_at[i] != NOWHERE && s->opened_at[i] < k && k <= s->closed_at[i] + 1) return 0;
    return 1;
}

/* ---- the events: can_ is the guard, do_ the effect ---- */

static inline int can_append(const session *s) { return !s->pending && s->length < BOUND; }
static inline void do_append(session *s, int letter) { s->history[s->length++] = (byte_t)letter; }

static inline int can_call(const session *s, int kind) {
    return s->enabled && !s->pending && s->length + 2 <= BOUND && (kind == OPEN || cursor_of(s) >= 0);
}
static inline void do_call(session *s, int kind) {
    int cursor = cursor_of(s);
    s->pending = (byte_t)kind;
    s->carrier = s->length;
    s->cursor = cursor < 0 ? NOWHERE : s->opened_at[cursor];
    s->history[s->length++] = (byte_t)kind;
    s->history[s->length++] = RECEIPT;
}

static inline int can_step_end(const session *s) { return s->enabled; }
static inline void do_step_end(session *s) { settle(s); }

static inline void do_measure(session *s) {
    rebase(s);
    s->gauge_kind = MEASURED;
}

static inline int can_undo(const session *s, int cut) {
    if (cut >= s->length || s->history[cut] != PROMPT || cut < s->epoch_start_at) return 0;
    for (int i = cut; i < s->length; i++)
        if (s->history[i] == SUMMARY) return 0;
    return 1;
}
static inline void do_undo(session *s, int cut) {
    int changed = 0;
    for (int i = cut; i < s->length; i++) s->history[i] = 0;
    s->length = (byte_t)cut;
    truncate_nodes(s, cut, &changed);
    int frozen = 0;
    while (frozen < s->frozen && s->frozen_at[frozen] <= cut) frozen++;
    if (frozen != s->frozen) changed = 1;
    for (int i = frozen; i < s->frozen; i++) s->frozen_at[i] = 0;
    s->frozen = (byte_t)frozen;
    s->frozen_end = frozen ? s->frozen_at[frozen - 1] : 0;
    if (s->epoch_start_at > cut) {
        s->has_state = 0;
        s->epoch_start_at = s->frozen_end;
        changed = 1;
    }
    if (s->last_observed > cut) s->last_observed = (byte_t)cut;
    if (s->pending && s->carrier >= cut) forget_pending(s);
    if (s->gauge_length > cut || changed) rebase(s);
}

static inline int can_clear(const session *s) { return s->length > 0; }
static inline void do_clear(session *s) {
    byte_t enabled = s->enabled;
    memset(s, 0, sizeof *s);
    s->enabled = enabled;
}

static inline int can_commit_state(const session *s, int k) {
    return s->enabled && !s->pending && k > s->epoch_start_at && k > s->frozen_end && k <= s->length &&
           is_edge(s, k);
}
static inline void do_commit_state(session *s, int k) {
    s->has_state = 1;
    s->epoch_start_at = (byte_t)k;
    rebase(s);
}

static inline int can_commit_index(const session *s, int k) {
    return s->enabled && !s->pending && k >= s->epoch_start_at && k > s->frozen_end && k <= s->length &&
           is_edge(s, k);
}
static inline void do_commit_index(session *s, int k) {
    s->frozen_at[s->frozen++] = (byte_t)k;
    s->frozen_end = s->epoch_start_at = (byte_t)k;
    s->has_state = 0;
    rebase(s);
}

static inline int can_apply(const session *s, int k) {
    return !s->enabled && !s->pending && k >= 1 && k <= s->length && is_edge(s, k);
}
static inline void do_apply(session *s, int k) {
    int length = s->length - k + 1, kept = 0;
    s->history[0] = SUMMARY;
    for (int i = 1; i < length; i++) s->history[i] = s->history[i + k - 1];
    for (int i = length; i < s->length; i++) s->history[i] = 0;
    s->length = (byte_t)length;
    for (int i = 0; i < s->nodes; i++) {
        byte_t opened_at = s->opened_at[i], closed_at = s->closed_at[i];
        if (opened_at < k) continue;
        s->opened_at[kept] = (byte_t)(opened_at + 1 - k);
        s->closed_at[kept++] = closed_at == NOWHERE ? NOWHERE : (byte_t)(closed_at + 1 - k);
    }
    for (int i = kept; i < s->nodes; i++) s->opened_at[i] = s->closed_at[i] = 0;
    s->nodes = (byte_t)kept;
    memset(s->frozen_at, 0, sizeof s->frozen_at);
    s->frozen = s->frozen_end = s->has_state = s->epoch_start_at = 0;
    if (s->last_observed > s->length) s->last_observed = s->length;
    rebase(s);
}

static inline void do_restore(session *s) {
    unsigned opens = 0, closes = 0;
    for (int i = 0; i < s->nodes; i++) {
        opens |= 1u << s->opened_at[i];
        if (s->closed_at[i] != NOWHERE) closes |= 1u << (s->closed_at[i] + 1);
    }
    forget_pending(s);
    for (int i = s->epoch_start_at; i + 1 < s->length; i++) {
        byte_t kind = s->history[i];
        if (!is_carrier(kind) || s->history[i + 1] != RECEIPT) continue;
        int recorded = (kind == CLOSE || opens >> i & 1) && (kind == OPEN || closes >> i & 1);
        if (!recorded) commit(s, i);
    }
    s->last_observed = s->length;
    rebase(s);
}

static inline void do_flag_flip(session *s) {
    if (s->enabled && s->pending) settle(s);
    s->enabled = !s->enabled;
    rebase(s);
}

/* ---- the invariants ---- */

static inline int holds_idx(const session *s) {
    for (int i = 0; i < s->nodes; i++)
        if (s->opened_at[i] >= s->length || (s->closed_at[i] != NOWHERE && s->closed_at[i] >= s->length)) return 0;
    return s->epoch_start_at <= s->length && s->last_observed <= s->length && s->gauge_length <= s->length;
}

static inline int holds_cal(const session *s) {
    return s->gauge_tokens + estimate_from(s, s->gauge_length) == estimate_view(s);
}

static inline int holds_view(const session *s) { /* the places shown are 0, 1, ... length - 1 */
    if (!s->enabled) return 1;
    int place = 0;
    for (int i = 0; i < s->frozen; i++) place = s->frozen_at[i];
    if (s->has_state && place == s->frozen_end) place = s->epoch_start_at;
    if (place != s->epoch_start_at) return 0;
    for (int i = 0; i < s->nodes; i++) {
        if (!in_view(s, i) || (s->opened_at[i] < place && s->closed_at[i] < place)) continue;
        if (s->opened_at[i] < place) return 0; /* shown twice */
        place = s->closed_at[i] + 1;
    }
    return place <= s->length;
}

static inline int holds_sync(const session *s) {
    unsigned opens = 0, closes = 0;
    for (int i = 0; i < s->nodes; i++) {
        if (s->opened_at[i] >= s->epoch_start_at) {
            if (opens >> s->opened_at[i] & 1) return 0;
            opens |= 1u << s->opened_at[i];
        }
        if (s->closed_at[i] != NOWHERE && s->closed_at[i] + 1 >= s->epoch_start_at) {
            if (closes >> (s->closed_at[i] + 1) & 1) return 0;
            closes |= 1u << (s->closed_at[i] + 1);
        }
    }
    for (int i = s->epoch_start_at; i + 1 < s->length; i++) {
        byte_t kind = s->history[i];
        if (!is_carrier(kind) || s->history[i + 1] != RECEIPT || (s->pending && s->carrier == i)) continue;
        if (kind != CLOSE) opens ^= 1u << i;
        if (kind != OPEN) closes ^= 1u << i;
    }
    return !opens && !closes;
}

static inline int holds(const session *s) {
    return holds_idx(s) && holds_cal(s) && holds_view(s) && holds_sync(s);
}

/* Every event of a state, in the model's order: CALL(can, do) for each; used by explorer and generator. */
#define EVERY_EVENT(s, TAKE)                                                                              \
    TAKE(can_append(s), do_append(t, PROMPT))                                                             \
    TAKE(can_append(s), do_append(t, REPLY))                                                              \
    TAKE(can_call(s, OPEN), do_call(t, OPEN))                                                             \
    TAKE(can_call(s, CLOSE), do_call(t, CLOSE))                                                           \
    TAKE(can_call(s, NEXT), do_call(t, NEXT))                                                             \
    TAKE(can_step_end(s), do_step_end(t))                                                                 \
    TAKE(1, do_measure(t))                                                                                \
    for (int k = 0; k < (s)->length; k++) TAKE(can_undo(s, k), do_undo(t, k))                             \
    TAKE(can_clear(s), do_clear(t))                                                                       \
    for (int k = 1; k <= (s)->length; k++) TAKE(can_commit_state(s, k), do_commit_state(t, k))            \
    for (int k = 1; k <= (s)->length; k++) TAKE(can_commit_index(s, k), do_commit_index(t, k))            \
    for (int k = 1; k <= (s)->length; k++) TAKE(can_apply(s, k), do_apply(t, k))                          \
    TAKE(1, do_restore(t))                                                                                \
    TAKE(1, do_flag_flip(t))
#endif
