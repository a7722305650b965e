/* SPDX-License-Identifier: MIT */
/* Reads memory as a simulated world in C++ holds it: vectors that are members of a class,
 * whose pointers wait in the frame while loops are nested and call others; a hierarchy of
 * actors with two bases and virtual calls; values with a tag, a union and bit-fields;
 * maps of shared items, hash tables by strings, and queues that are read by index. */
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "truth.h"

#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;

enum { COUNT = 300, ROUNDS = 20, CELLS = 4 };

#define SAY(type, member, also)                                                          \
        truth_field(#type, #member, offsetof(type, member),                              \
                    sizeof(((type *)nullptr)->member), also)

/* ---- members that are vectors ---- */

struct body {
        int id;
        char label[12];
        double place[3];
        double mass, charge;
        double speed[3];
        double force[3];
        unsigned kind : 3, layer : 5, group : 24;
        int near;
};

struct world {
        double size, range;
        int cells;
        std::vector<body> bodies;
        std::vector<int> first, next;

        int cell_of(const body &of) const
        {
                int at[3];

                for (int d = 0; d < 3; d++)
                        at[d] = (int)(of.place[d] / size * cells) % cells;
                return (at[0] * cells + at[1]) * cells + at[2];
        }
        void sort();
        double forces();
        void move(double dt);
};

NOINLINE static double pull(double distance, double charge)
{
        return charge / (distance + 0.01);
}

NOINLINE void world::sort()
{
        for (int &cell : first)
                cell = -1;
        for (int i = 0; i < (int)bodies.size(); i++) {
                int cell = cell_of(bodies[i]);

                next[i] = first[cell];
                first[cell] = i;
        }
}

NOINLINE double world::forces()
{
        double energy = 0;

        for (body &b : bodies)
                b.force[0] = b.force[1] = b.force[2] = 0;
        for (int x = 0; x < cells; x++)
                for (int y = 0; y < cells; y++)
                        for (int z = 0; z < cells; z++)
                                for (int i = first[(x * cells + y) * cells + z]; i >= 0;
                                     i = next[i])
                                        for (int dx = -1; dx <= 1; dx++) {
                                                if (x + dx < 0 || x + dx >= cells)
                                                        continue;
                                                for (int j =
                                                         first[((x + dx) * cells + y) *
                                                                   cells +
                                                               z];
                                                     j >= 0; j = next[j]) {
                                                        body &a = bodies[i],
                                                             &b = bodies[j];
                                                        double d[3], r = 0;

                                                        if (j <= i || a.layer != b.layer)
                                                                continue;
                                                        for (int k = 0; k < 3; k++) {
                                                                d[k] = a.place[k] -
                                                                       b.place[k];
                                                                r += d[k] * d[k];
                                                        }
                                                        if (r > range)
                                                                continue;
                                                        double f =
                                                            pull(r, a.charge * b.charge);

                                                        energy += f;
                                                        a.near++;
                                                        for (int k = 0; k < 3; k++) {
                                                                a.force[k] += f * d[k];
                                                                b.force[k] -= f * d[k];
                                                        }
                                                }
                                        }
        return energy;
}

NOINLINE void world::move(double dt)
{
        for (body &b : bodies)
                for (int d = 0; d < 3; d++) {
                        b.speed[d] += b.force[d] / b.mass * dt;
                        b.place[d] += b.speed[d] * dt;
                        if (b.place[d] < 0 || b.place[d] >= size)
                                b.place[d] = size / 2;
                }
}

NOINLINE static void fill_world(world &all)
{
        all.size = CELLS;
        all.range = 1;
        all.cells = CELLS;
        all.bodies.resize(COUNT);
        all.first.resize(CELLS * CELLS * CELLS);
        all.next.resize(COUNT);
        for (int i = 0; i < COUNT; i++) {
                body &b = all.bodies[i];

                b.id = i;
                b.mass = i + 1;
                b.charge = i % 2 ? 1e-9 : -1e-9;
                b.layer = i % 2;
                for (int d = 0; d < 3; d++)
                        b.place[d] = (i * (7 + d * 6) % 100) * (CELLS / 100.0);
        }
}

/* ---- actors ---- */

struct listener {
        long heard = 0;
        short volume = 3;
        virtual ~listener() = default;
        virtual long hear(int what) = 0;
};

struct actor {
        int health = 100;
        unsigned alive : 1, team : 4, level : 11;
        actor *target = nullptr;
        explicit actor(int i) : alive(1), team(i & 7), level(i & 1023)
        {
        }
        virtual ~actor() = default;
        virtual double act(int turn) = 0;
};

struct walker : actor {
        double pace;
        float heading[2] = {1, 2};
        explicit walker(int i) : actor(i), pace(i)
        {
        }
        double act(int turn) override;
};

struct guard : walker, listener {
        long post;
        explicit guard(int i) : walker(i), post(i)
        {
        }
        double act(int turn) override;
        long hear(int what) override;
};

NOINLINE double walker::act(int turn)
{
        return alive ? pace * heading[turn & 1] + health : level;
}

NOINLINE double guard::act(int turn)
{
        return target ? target->health + post + (int)target->team : pace + volume + turn;
}

NOINLINE long guard::hear(int what)
{
        heard += what;
        return heard + volume + post;
}

NOINLINE static std::vector<std::unique_ptr<actor>> make_actors()
{
        std::vector<std::unique_ptr<actor>> made;

        made.reserve(COUNT);
        for (int i = 0; i < COUNT; i++) {
                if (i % 3)
                        made.push_back(std::make_unique<guard>(i));
                else
                        made.push_back(std::make_unique<walker>(i));
                made.back()->target = made[i / 2].get();
        }
        return made;
}

NOINLINE static std::vector<listener *>
list_listeners(const std::vector<std::unique_ptr<actor>> &actors)
{
        std::vector<listener *> made;

        made.reserve(COUNT);
        for (const auto &a : actors)
                if (guard *g = dynamic_cast<guard *>(a.get()))
                        made.push_back(g);
        return made;
}

NOINLINE static double act_all(const std::vector<std::unique_ptr<actor>> &actors,
                               int turn)
{
        double sum = 0;

        for (const auto &a : actors)
                sum += a->act(turn) + a->health;
        return sum;
}

NOINLINE static long hear_all(const std::vector<listener *> &listeners, int what)
{
        long sum = 0;

        for (listener *each : listeners)
                sum += each->hear(what);
        return sum;
}

/* ---- values with a tag ---- */

struct value {
        enum kind { WHOLE, REAL, TEXT } is;
        unsigned constant : 1, depth : 7;
        union {
                long whole;
                double real;
                struct {
                        const char *start;
                        int length;
                } text;
        };
};

NOINLINE static value *make_values()
{
        value *made = new value[COUNT];

        for (int i = 0; i < COUNT; i++) {
                made[i].is = i % 3 == 0   ? value::WHOLE
                             : i % 3 == 1 ? value::REAL
                                          : value::TEXT;
                made[i].depth = i & 127;
                if (made[i].is == value::WHOLE)
                        made[i].whole = i;
                else if (made[i].is == value::REAL)
                        made[i].real = i;
                else
                        made[i].text = {"text", 4};
        }
        return made;
}

NOINLINE static double sum_values(const value *values)
{
        double sum = 0;

        for (int i = 0; i < COUNT; i++)
                switch (values[i].is) {
                case value::WHOLE:
                        sum += (double)values[i].whole;
                        break;
                case value::REAL:
                        sum += values[i].real + values[i].depth;
                        break;
                case value::TEXT:
                        sum += values[i].text.length + (values[i].text.start != nullptr);
                        break;
                }
        return sum;
}

/* ---- maps ---- */

struct item {
        long price;
        int count;
        float weight;
};

struct score {
        double best, sum;
        int games;
};

using items = std::map<int, std::shared_ptr<item>>;
using scores = std::unordered_map<std::string, score>;

NOINLINE static items make_items()
{
        items made;

        for (int i = 0; i < COUNT; i++) {
                auto one = std::make_shared<item>();

                one->price = i;
                one->count = i % 5;
                made[i * 37 % COUNT] = std::move(one);
        }
        return made;
}

NOINLINE static scores make_scores()
{
        scores made;

        made.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                made["player" + std::to_string(i)] = {(double)i, 1, i};
        return made;
}

NOINLINE static double sum_items(const items &all)
{
        double sum = 0;

        for (const auto &entry : all)
                sum += (double)entry.second->price * entry.second->count + entry.first;
        return sum;
}

NOINLINE static long find_items(const items &all)
{
        long sum = 0;

        for (int i = 0; i < COUNT; i += 3) {
                auto found = all.find(i);

                if (found != all.end())
                        sum += found->second->price;
        }
        return sum;
}

NOINLINE static double sum_scores(const scores &all)
{
        double sum = 0;

        for (const auto &entry : all)
                sum += entry.second.best + entry.second.games;
        return sum;
}

NOINLINE static double find_score(const scores &all, const std::string &name)
{
        auto found = all.find(name);

        return found == all.end() ? 0 : found->second.best + found->second.sum;
}

/* ---- queues ---- */

struct event {
        long time;
        int who;
        short what, how;
};

NOINLINE static std::deque<event> make_events()
{
        std::deque<event> made;

        for (int i = 0; i < COUNT; i++)
                made.push_back({i, i % 7, (short)(i % 3), 0});
        return made;
}

NOINLINE static long count_events(const std::deque<event> &events, int who)
{
        long sum = 0;

        for (size_t i = 0; i < events.size(); i++)
                if (events[i].who == who)
                        sum += events[i].time;
        return sum;
}

NOINLINE static long walk_events(const std::deque<event> &events)
{
        long sum = 0;

        for (const event &e : events)
                sum += e.time * e.what;
        return sum;
}

/* ---- the truth ---- */

/* Where a member lies in an object of its class, which only its address tells. */
template <class object, class member>
static size_t place_in(const object *whole, const member *part)
{
        return (size_t)((const char *)part - (const char *)whole);
}

static void say_each(const char *type, const char *field, size_t offset, size_t bytes,
                     size_t items)
{
        for (size_t i = 0; i < items; i++)
                truth_field(type, field, offset + i * bytes, bytes, "");
}

static void say_bodies(const world &all)
{
        SAY(body, id, "");
        say_each("body", "place[]", offsetof(body, place), 8, 3);
        SAY(body, mass, "");
        SAY(body, charge, "");
        say_each("body", "speed[]", offsetof(body, speed), 8, 3);
        say_each("body", "force[]", offsetof(body, force), 8, 3);
        truth_field("body", "kind|layer|group", offsetof(body, near) - 4, 4,
                    "body:kind body:layer body:group body:kind|layer");
        SAY(body, near, "");
        truth_object("heap", "fill_world at ", "body", all.bodies.data(), sizeof(body),
                     COUNT, "*");
        truth_object("heap", "fill_world at ", "int", all.first.data(), 4,
                     all.first.size(), "*");
        truth_object("heap", "fill_world at ", "int", all.next.data(), 4, COUNT, "*");
}

/* Of a WHOLE that is of TYPE: the fields of its first base, too. */
template <class whole> static void say_actor(const char *type, const whole *a)
{
        const std::string base = "actor:", walk = "walker:";
        const bool on_guard = strcmp(type, "guard") == 0;

        truth_field(type, "_vptr.actor", 0, 8,
                    "actor:_vptr.actor actor:_vptr$actor walker:_vptr.actor "
                    "walker:_vptr$actor guard:_vptr.actor guard:_vptr$actor");
        truth_field(type, "health", place_in(a, &a->health), 4,
                    "actor:health walker:health");
        /* gcc reads two bytes of the bit-fields, or four. */
        truth_field(type, "level", place_in(a, &a->health) + 4, 2,
                    "actor:alive|team|level walker:alive|team|level "
                    "guard:alive|team|level actor:alive walker:alive guard:alive "
                    "actor:team walker:team guard:team actor:level walker:level "
                    "guard:level actor:alive|team walker:alive|team guard:alive|team "
                    "actor:team|level walker:team|level");
        truth_field(type, "target", place_in(a, &a->target), 8,
                    "actor:target walker:target");
        truth_field(type, "pace", place_in(a, &a->pace), 8, "walker:pace");
        truth_field(type, "heading[]", place_in(a, &a->heading), 8, "walker:heading[]");
        truth_object("heap", on_guard ? "make_actors at " : "make_actors at ", type, a,
                     sizeof(*a), 1, "*");
}

static void say_actors(const std::vector<std::unique_ptr<actor>> &actors)
{
        for (const auto &each : actors)
                if (const guard *g = dynamic_cast<const guard *>(each.get())) {
                        const listener *l = g;

                        truth_field("guard", "_vptr.listener", place_in(g, l), 8,
                                    "listener:_vptr.listener listener:_vptr$listener "
                                    "guard:_vptr$listener");
                        truth_field("guard", "heard", place_in(g, &g->heard), 8,
                                    "listener:heard");
                        truth_field("guard", "volume", place_in(g, &g->volume), 2,
                                    "listener:volume");
                        truth_field("guard", "post", place_in(g, &g->post), 8, "");
                        say_actor("guard", g);
                } else if (const walker *w = dynamic_cast<const walker *>(each.get())) {
                        say_actor("walker", w);
                }
        truth_object("heap", "make_actors at ", "owner", actors.data(), 8, COUNT, "*");
        truth_field(
            "owner", "", 0, 8,
            "std::unique_ptr<*:_M_t._M_t._M_head_impl actor~*: "
            "std::unique_ptr<*:_M_t.std::__uniq_ptr_impl<actor,~std::default_delete<"
            "actor>~>._M_t._M_head_impl std::_Head_base<*:_M_head_impl "
            "std::unique_ptr<*:_M_t.std::_Tuple_impl.std::_Head_base._M_head_impl");
}

static void say_values(const value *values)
{
        SAY(value, is, "");
        truth_field("value", "depth", 4, 1, "value:constant value:constant|depth");
        for (int i = 0; i < COUNT; i++) {
                const value *v = &values[i];
                const char *type = v->is == value::WHOLE  ? "whole"
                                   : v->is == value::REAL ? "real"
                                                          : "text";

                truth_object("heap", "make_values at ", type, v, sizeof(value), 1, "*");
        }
        for (const char *type : {"whole", "real", "text"}) {
                truth_field(type, "is", 0, 4, "value:is");
                truth_field(type, "depth", 4, 1,
                            "value:depth value:constant value:constant|depth");
        }
        truth_field("whole", "whole", 8, 8, "value:whole");
        truth_field("real", "real", 8, 8, "value:real");
        truth_field("text", "start", 8, 8, "value:text.start");
        truth_field("text", "length", 16, 4, "value:text.length");
}

static void say_maps(const items &things, const scores &all)
{
        for (const auto &entry : things) {
                truth_object("heap", "make_items at ", "thing", &entry, sizeof(entry), 1,
                             "*");
                truth_object("heap", "make_items at ", "item", entry.second.get(),
                             sizeof(item), 1, "*");
        }
        SAY(item, price, "std::_Sp_counted_ptr_inplace<*:_M_impl._M_storage.price");
        SAY(item, count, "std::_Sp_counted_ptr_inplace<*:_M_impl._M_storage.count");
        truth_field("thing", "first", 0, 4,
                    "std::pair<*:first std::_Rb_tree_node<*:_M_storage.first int:");
        truth_field("thing", "second", 8, 8,
                    "std::pair<*:second._M_ptr "
                    "std::_Rb_tree_node<*:_M_storage.second._M_ptr "
                    "std::shared_ptr<*:_M_ptr std::__shared_ptr<*:_M_ptr");
        for (const auto &entry : all)
                truth_object("heap", "make_scores at ", "row", &entry, sizeof(entry), 1,
                             "*");
        truth_field("row", "name", 0, 8,
                    "std::pair<*:first._M_dataplus._M_p "
                    "std::__detail::_Hash_node<*:_M_storage.first._M_dataplus._M_p "
                    "std::__cxx11::basic_string<*:_M_dataplus._M_p");
        truth_field("row", "length", 8, 8,
                    "std::pair<*:first._M_string_length "
                    "std::__detail::_Hash_node<*:_M_storage.first._M_string_length "
                    "std::__cxx11::basic_string<*:_M_string_length");
        truth_field("row", "best", 32 + offsetof(score, best), 8,
                    "std::pair<*:second.best score:best "
                    "std::__detail::_Hash_node<*:_M_storage.second.best");
        truth_field("row", "sum", 32 + offsetof(score, sum), 8,
                    "std::pair<*:second.sum score:sum "
                    "std::__detail::_Hash_node<*:_M_storage.second.sum");
        truth_field("row", "games", 32 + offsetof(score, games), 4,
                    "std::pair<*:second.games score:games "
                    "std::__detail::_Hash_node<*:_M_storage.second.games");
}

static void say_events(const std::deque<event> &events)
{
        SAY(event, time, "");
        SAY(event, who, "");
        SAY(event, what, "");
        SAY(event, how, "");
        for (const event &e : events)
                truth_object("heap", "make_events at ", "event", &e, sizeof(e), 1, "*");
}

int main()
{
        truth_open();
        world all;
        auto actors = make_actors();
        auto listeners = list_listeners(actors);
        value *values = make_values();
        auto things = make_items();
        auto table = make_scores();
        auto events = make_events();

        fill_world(all);
        say_bodies(all);
        say_actors(actors);
        say_values(values);
        say_maps(things, table);
        say_events(events);
        for (int i = 0; i < ROUNDS; i++) {
                double sum = act_all(actors, i) + sum_values(values) + sum_items(things) +
                             sum_scores(table);

                all.sort();
                sum += all.forces();
                all.move(0.001);
                for (int j = 0; j < COUNT; j += 3)
                        sum += find_score(table, "player" + std::to_string(j));
                result += (uint64_t)sum;
                result += (uint64_t)(hear_all(listeners, i) + find_items(things) +
                                     count_events(events, i % 7) + walk_events(events));
        }
        delete[] values;
        truth_close();
        return 0;
}
