/* A child that costs next to nothing, so that what is measured is its client: `mock_agent [UPDATES [CHARS [ASKS]]]`.
   Answers initialize, session/new and session/prompt. Before the last answer it asks for ASKS permissions, one after
   another, and sends UPDATES chunks in writes of 64 KiB, each of CHARS characters (0: a dozen to four). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536, AROUND = 256, ID = 64 };

static const char *const TEXT = "the quick brown fox jumps over the lazy dog and runs away";

static char *updates, *line;
static size_t updates_size, room;

static void put(const char *data, size_t size)
{
    while (size > 0) {
        size_t piece = size < PIECE ? size : PIECE;
        ssize_t written = write(1, data, piece);
        if (written <= 0)
            _exit(0);
        data += written;
        size -= (size_t)written;
    }
}

static void answer(const char *id, const char *result)
{
    char frame[512];
    put(frame, (size_t)snprintf(frame, sizeof frame, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result));
}

static void add(const char *text, size_t chars)
{
    char *to = updates + updates_size;
    to += sprintf(to, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"session-1\",\"update\":"
                      "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"");
    if (text)
        memcpy(to, text, chars);
    else
        memset(to, 'x', chars);
    to += chars;
    to += sprintf(to, "\"}}}}\n");
    updates_size = (size_t)(to - updates);
}

static void prepare(long count, size_t chars)
{
    updates = malloc((size_t)count * (AROUND + chars) + 1);
    if (updates == NULL)
        exit(1);
    for (long at = 0; at < count; at++)
        add(chars ? NULL : TEXT, chars ? chars : (size_t)(12 + at % 40));
}

static void ask(long asks)
{
    char frame[512];
    for (long at = 0; at < asks; at++) {
        put(frame, (size_t)sprintf(frame,
            "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
            "\"session-1\",\"toolCall\":{\"toolCallId\":\"call-%ld\",\"title\":\"write a file\",\"kind\":\"edit\"},"
            "\"options\":[{\"optionId\":\"yes\",\"name\":\"Allow\",\"kind\":\"allow_once\"},"
            "{\"optionId\":\"no\",\"name\":\"Reject\",\"kind\":\"reject_once\"}]}}\n", at + 1, at + 1));
        if (getline(&line, &room, stdin) <= 0 || !strstr(line, "\"yes\""))
            _exit(2);
    }
}

static void copy_id(char *id)
{
    const char *at = strstr(line, "\"id\":");
    size_t size = 0;
    for (at = at ? at + 5 : "null"; *at && !strchr(",}\n", *at) && size < ID - 1; at++)
        if (*at != ' ')
            id[size++] = *at;
    id[size] = 0;
}

int main(int count, char **words)
{
    char id[ID];
    long asks = count > 3 ? atol(words[3]) : 0;
    prepare(count > 1 ? atol(words[1]) : 1, count > 2 ? (size_t)atol(words[2]) : 0);
    while (getline(&line, &room, stdin) > 0) {
        copy_id(id);
        if (strstr(line, "\"initialize\"")) {
            answer(id, "{\"protocolVersion\":1,\"agentCapabilities\":{},\"authMethods\":[]}");
        } else if (strstr(line, "\"session/new\"")) {
            answer(id, "{\"sessionId\":\"session-1\"}");
        } else if (strstr(line, "\"session/prompt\"")) {
            ask(asks);
            put(updates, updates_size);
            answer(id, "{\"stopReason\":\"end_turn\"}");
        }
    }
    return 0;
}
