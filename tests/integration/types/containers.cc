/* SPDX-License-Identifier: MIT */
/* Reads what optimised C++ keeps its data in: the containers of the library, shared and
 * variant objects, the captures of lambdas, classes with several and with virtual bases,
 * strings inside of objects, and containers in memory resources. The addresses of the
 * elements are those that the program itself sees. */
#include <array>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "truth.h"

#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;

enum { COUNT = 300, ROUNDS = 20 };

struct sale {
        long amount;
        int item;
        short shop;
        double rebate;
};

static sale sale_of(int i)
{
        return {i * 7L, i, (short)(i % 11), i * 0.5};
}

#define SAY(type, member, also)                                                          \
        truth_field(#type, #member, offsetof(type, member),                              \
                    sizeof(((type *)nullptr)->member), also)

/* ---- sequences ---- */

NOINLINE static std::deque<sale> make_deque()
{
        std::deque<sale> sales;

        for (int i = 0; i < COUNT; i++)
                sales.push_back(sale_of(i));
        return sales;
}

NOINLINE static double sum_deque(const std::deque<sale> &sales)
{
        double sum = 0;

        for (const sale &s : sales)
                sum += s.rebate + (double)s.amount;
        return sum;
}

NOINLINE static long pick_deque(const std::deque<sale> &sales, size_t step)
{
        long sum = 0;

        for (size_t i = 0; i < sales.size(); i += step)
                sum += sales[i].item + sales[sales.size() - 1 - i].shop;
        return sum;
}

NOINLINE static std::list<sale> make_list()
{
        std::list<sale> sales;

        for (int i = 0; i < COUNT; i++)
                sales.push_front(sale_of(i));
        return sales;
}

NOINLINE static long sum_list(const std::list<sale> &sales)
{
        long sum = 0;

        for (const sale &s : sales)
                sum += s.amount + s.shop;
        return sum;
}

NOINLINE static std::forward_list<sale> make_chain()
{
        std::forward_list<sale> sales;

        for (int i = 0; i < COUNT; i++)
                sales.push_front(sale_of(i));
        return sales;
}

NOINLINE static double sum_chain(const std::forward_list<sale> &sales)
{
        double sum = 0;

        for (const sale &s : sales)
                sum += s.rebate + s.item;
        return sum;
}

/* Kept by value and as an array in the element. */
struct basket {
        int customer;
        std::array<sale, 3> sales;
        std::pair<int, float> bonus;
        std::optional<long> voucher;
};

NOINLINE static std::vector<basket> make_baskets()
{
        std::vector<basket> baskets(COUNT);

        for (int i = 0; i < COUNT; i++) {
                baskets[(size_t)i].customer = i;
                baskets[(size_t)i].sales.fill(sale_of(i));
                baskets[(size_t)i].bonus = {i, 0.5f};
                if (i % 2)
                        baskets[(size_t)i].voucher = i;
        }
        return baskets;
}

NOINLINE static double sum_baskets(const std::vector<basket> &baskets, int which)
{
        double sum = 0;

        for (const basket &b : baskets) {
                sum += b.customer + b.sales[(size_t)(which + b.customer) % 3].rebate +
                       b.bonus.second;
                if (b.voucher)
                        sum += (double)*b.voucher;
        }
        return sum;
}

/* ---- ordered and hashed ---- */

NOINLINE static std::multimap<long, sale> make_multimap()
{
        std::multimap<long, sale> sales;

        for (int i = 0; i < COUNT; i++)
                sales.emplace(i % 50, sale_of(i));
        return sales;
}

NOINLINE static double sum_multimap(const std::multimap<long, sale> &sales)
{
        double sum = 0;

        for (const auto &entry : sales)
                sum += (double)entry.first + entry.second.rebate;
        return sum;
}

struct by_item {
        bool operator()(const sale &a, const sale &b) const
        {
                return a.item < b.item;
        }
};

NOINLINE static std::set<sale, by_item> make_set()
{
        std::set<sale, by_item> sales;

        for (int i = 0; i < COUNT; i++)
                sales.insert(sale_of(i * 37 % COUNT));
        return sales;
}

NOINLINE static long look_up_set(const std::set<sale, by_item> &sales, int item)
{
        auto found = sales.find(sale{0, item, 0, 0});

        return found == sales.end() ? 0 : found->amount;
}

NOINLINE static std::unordered_map<long, sale> make_hash()
{
        std::unordered_map<long, sale> sales;

        sales.reserve(COUNT); /* so that no block is used for two purposes */
        for (int i = 0; i < COUNT; i++)
                sales.emplace(i * 7919L, sale_of(i));
        return sales;
}

NOINLINE static double look_up_hash(const std::unordered_map<long, sale> &sales, long key)
{
        auto found = sales.find(key);

        return found == sales.end() ? 0 : found->second.rebate;
}

NOINLINE static long sum_hash(const std::unordered_map<long, sale> &sales)
{
        long sum = 0;

        for (const auto &[key, s] : sales)
                sum += key + s.amount;
        return sum;
}

NOINLINE static std::unordered_set<long> make_numbers()
{
        std::unordered_set<long> numbers;

        numbers.reserve(COUNT);
        for (long i = 0; i < COUNT; i++)
                numbers.insert(i * 31);
        return numbers;
}

NOINLINE static long sum_numbers(const std::unordered_set<long> &numbers)
{
        long sum = 0;

        for (long number : numbers)
                sum += number;
        return sum;
}

/* ---- owned, shared and of several kinds ---- */

NOINLINE static std::vector<std::shared_ptr<sale>> make_shared_sales()
{
        std::vector<std::shared_ptr<sale>> sales;

        sales.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                sales.push_back(std::make_shared<sale>(sale_of(i)));
        return sales;
}

NOINLINE static double sum_shared(const std::vector<std::shared_ptr<sale>> &sales)
{
        double sum = 0;

        for (const auto &s : sales)
                sum += s->rebate + s->item;
        return sum;
}

NOINLINE static std::unique_ptr<sale[]> make_owned()
{
        auto sales = std::make_unique<sale[]>(COUNT);

        for (int i = 0; i < COUNT; i++)
                sales[(size_t)i] = sale_of(i);
        return sales;
}

NOINLINE static long sum_owned(const std::unique_ptr<sale[]> &sales)
{
        long sum = 0;

        for (size_t i = 0; i < COUNT; i++)
                sum += sales[i].amount - sales[i].shop;
        return sum;
}

struct circle {
        double radius;
        int colour;
};

struct box {
        float width, height;
        long weight;
};

using shape = std::variant<circle, box>;

NOINLINE static std::vector<shape> make_shapes()
{
        std::vector<shape> shapes;

        shapes.reserve(COUNT);
        for (int i = 0; i < COUNT; i++) {
                if (i % 3)
                        shapes.emplace_back(circle{i * 1.0, i});
                else
                        shapes.emplace_back(box{1.0f, 2.0f, i});
        }
        return shapes;
}

NOINLINE static double area_of(const std::vector<shape> &shapes)
{
        double sum = 0;

        for (const shape &s : shapes)
                if (const circle *c = std::get_if<circle>(&s))
                        sum += c->radius + c->colour;
                else if (const box *b = std::get_if<box>(&s))
                        sum += (double)(b->width * b->height) + (double)b->weight;
        return sum;
}

/* ---- captures ---- */

/* Too large for std::function itself, which allocates room for it. */
static auto make_scale(long scale, long shift, long limit)
{
        long extra = 1;

        return [scale, shift, limit, extra](long value) {
                return value * scale + shift < limit ? extra : limit;
        };
}

using scaling = decltype(make_scale(0, 0, 0));

NOINLINE static std::vector<std::function<long(long)>> make_functions()
{
        std::vector<std::function<long(long)>> functions;

        functions.reserve(COUNT);
        for (long i = 0; i < COUNT; i++)
                functions.emplace_back(make_scale(i, i * 3, i * 5));
        return functions;
}

NOINLINE static long call_all(const std::vector<std::function<long(long)>> &functions)
{
        long sum = 0;

        for (const auto &function : functions)
                sum += function(sum & 15);
        return sum;
}

/* ---- classes ---- */

struct counted {
        int uses = 1;
        long born = 2;
};

struct named {
        virtual ~named() = default;
        virtual int kind() const = 0;
        long serial = 3;
};

struct machine : counted, named {
        double power = 4;
        NOINLINE int kind() const override
        {
                return (int)(power + (double)serial) + uses;
        }
};

NOINLINE static std::vector<machine *> make_machines()
{
        std::vector<machine *> machines;

        machines.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                machines.push_back(new machine);
        return machines;
}

NOINLINE static long ask_machines(const std::vector<machine *> &machines)
{
        long sum = 0;

        for (const machine *m : machines)
                sum += m->born + static_cast<const named *>(m)->kind();
        return sum;
}

struct device {
        virtual ~device() = default;
        long address = 5;
};

struct input : virtual device {
        long keys = 6;
};

struct output : virtual device {
        double pixels = 7;
};

struct terminal : input, output {
        int speed = 8;
};

NOINLINE static std::vector<std::unique_ptr<terminal>> make_terminals()
{
        std::vector<std::unique_ptr<terminal>> terminals;

        terminals.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                terminals.push_back(std::make_unique<terminal>());
        return terminals;
}

NOINLINE static double sum_terminals(const std::vector<std::unique_ptr<terminal>> &all)
{
        double sum = 0;

        for (const auto &t : all)
                sum += (double)t->keys + t->pixels + t->speed;
        return sum;
}

NOINLINE static long sum_addresses(const std::vector<std::unique_ptr<terminal>> &all)
{
        long sum = 0;

        for (const auto &t : all)
                sum += t->address;
        return sum;
}

/* ---- members of one name ---- */

struct paid {
        long amount = 9;
        double tax = 10;
};

struct owed {
        double amount = 11;
        long since = 12;
};

struct account : paid, owed {
        int amount = 13;
};

/* As the elements of a std::tuple are. */
template <int number, class element> struct part {
        element value{};
};

template <class first, class... others>
struct parts : parts<others...>, part<(int)sizeof...(others), first> {
};

template <class last> struct parts<last> : part<0, last> {
};

using record = parts<long, double, short>;

NOINLINE static std::vector<account> make_accounts()
{
        return std::vector<account>(COUNT);
}

NOINLINE static double sum_accounts(const std::vector<account> &accounts)
{
        double sum = 0;

        for (const account &a : accounts)
                sum += (double)a.paid::amount + a.owed::amount + a.amount + a.tax +
                       (double)a.since;
        return sum;
}

NOINLINE static std::vector<record> make_records()
{
        return std::vector<record>(COUNT);
}

NOINLINE static double sum_records(const std::vector<record> &records)
{
        double sum = 0;

        for (const record &r : records)
                sum += (double)r.part<2, long>::value + r.part<1, double>::value +
                       r.part<0, short>::value;
        return sum;
}

/* ---- strings inside ---- */

struct person {
        std::string name; /* short: the letters lie in it */
        long age;
};

NOINLINE static std::vector<person> make_people()
{
        std::vector<person> people;

        people.reserve(COUNT);
        for (int i = 0; i < COUNT; i++)
                people.push_back({std::string((size_t)(3 + i % 8), 'x'), i});
        return people;
}

NOINLINE static long sum_people(const std::vector<person> &people)
{
        long sum = 0;

        for (const person &p : people)
                sum += p.age + p.name[1] + (long)p.name.size();
        return sum;
}

/* ---- memory resources ---- */

struct arena {
        std::pmr::monotonic_buffer_resource memory{1 << 16};
        std::pmr::vector<sale> sales{&memory};
        std::pmr::map<int, sale> sorted{&memory};
};

NOINLINE static std::unique_ptr<arena> make_arena()
{
        auto made = std::make_unique<arena>();

        made->sales.reserve(COUNT);
        for (int i = 0; i < COUNT; i++) {
                made->sales.push_back(sale_of(i));
                made->sorted.emplace(i * 37 % COUNT, sale_of(i));
        }
        return made;
}

NOINLINE static double sum_arena(const arena &all)
{
        double sum = 0;

        for (const sale &s : all.sales)
                sum += s.rebate + s.item;
        for (const auto &entry : all.sorted)
                sum += (double)entry.second.amount + entry.first;
        return sum;
}

/* ---- the truth ---- */

/* SALE in the containers' nodes: its fields are those of the node too. */
#define SALE(member, path)                                                               \
        SAY(sale, member,                                                                \
            "std::_List_node<*:_M_storage." #member                                      \
            " std::__1::__list_node<*:__value_." #member                                 \
            " std::_Fwd_list_node<*:_M_storage." #member                                 \
            " std::__1::__forward_list_node<*:__value_." #member                         \
            " std::_Rb_tree_node<*:_M_storage." #member                                  \
            " std::__1::__tree_node<*:__value_." #member                                 \
            " std::_Sp_counted_ptr_inplace<*:_M_impl._M_storage." #member)

/* A shape as the variant's and as its alternative's own: ours: libstdc++'s. */
#define SHAPE(type, member, ours, theirs)                                                \
        SAY(type, member,                                                                \
            "std::variant<*:" ours "." #member                                           \
            " std::__detail::__variant::_Variadic_union<*:" ours "." #member)

static void say_pair(const char *type, size_t at, size_t key)
{
        const struct {
                const char *name;
                size_t offset, bytes;
        } members[] = {{"amount", offsetof(sale, amount), 8},
                       {"item", offsetof(sale, item), 4},
                       {"shop", offsetof(sale, shop), 2},
                       {"rebate", offsetof(sale, rebate), 8}};

        truth_field(type, "first", 0, key,
                    "std::_Rb_tree_node<*:_M_storage.first "
                    "std::__detail::_Hash_node<*:_M_storage.first "
                    "std::__1::__tree_node<*:__value_.__cc.first "
                    "std::__1::__hash_node<*:__value_.__cc.first");
        for (const auto &m : members) {
                const std::string name = std::string("second.") + m.name;
                std::string also = std::string("sale:") + m.name;

                for (const char *node : {"std::_Rb_tree_node<*:_M_storage.",
                                         "std::__detail::_Hash_node<*:_M_storage.",
                                         "std::__1::__tree_node<*:__value_.__cc.",
                                         "std::__1::__hash_node<*:__value_.__cc."})
                        also += std::string(" ") + node + name;
                truth_field(type, name.c_str(), at + m.offset, m.bytes, also.c_str());
        }
}

static void say_fields()
{
        const std::pair<const long, sale> *pair = nullptr;
        const std::pair<const int, sale> *small = nullptr;

        SALE(amount, );
        SALE(item, );
        SALE(shop, );
        SALE(rebate, );
        say_pair("std::pair<long const, sale>", (size_t)&pair->second, 8);
        say_pair("std::pair<int const, sale>", (size_t)&small->second, 4);
        SAY(basket, customer, "");
        size_t third = sizeof(sale);

        for (size_t i = 0; i < 3; i++) {
                size_t at = offsetof(basket, sales) + i * third;
                const char *ours =
                    "basket:sales._M_elems[].rebate basket:sales.__elems_[].rebate "
                    "sale:rebate std::array<*:_M_elems[].rebate "
                    "std::__1::array<*:__elems_[].rebate";

                truth_field("basket", "rebate", at + offsetof(sale, rebate), 8, ours);
        }
        truth_field("basket", "bonus.second", offsetof(basket, bonus) + 4, 4,
                    "std::pair<*:second");
        truth_field("basket", "voucher", offsetof(basket, voucher), 8,
                    "basket:voucher._M_payload._M_payload._M_value "
                    "basket:voucher._M_payload._M_value basket:voucher.__val_ "
                    "std::optional<*:_M_payload._M_payload._M_value "
                    "std::optional<*:_M_payload._M_value long: "
                    "std::_Optional_payload_base<*:_M_payload._M_value "
                    "std::_Optional_payload<*:_M_payload._M_value "
                    "std::__1::optional<*:__val_");
        truth_field("basket", "voucher.", offsetof(basket, voucher) + 8, 1,
                    "basket:voucher._M_payload._M_engaged basket:voucher.__engaged_ "
                    "std::optional<*:_M_payload._M_engaged "
                    "std::_Optional_payload_base<*:_M_engaged "
                    "std::_Optional_payload<*:_M_engaged "
                    "std::__1::optional<*:__engaged_");
        truth_field(
            "person", "name.size", offsetof(person, name) + 8, 8,
            "person:name._M_string_length std::__cxx11::basic_string<*:_M_string_length");
        truth_field(
            "person", "name.pointer", offsetof(person, name), 8,
            "person:name._M_dataplus._M_p std::__cxx11::basic_string<*:_M_dataplus._M_p");
        truth_field("person", "name.local", offsetof(person, name) + 16, 16,
                    "person:name._M_local_buf[] person:name.[_M_local_buf] char: "
                    "std::__cxx11::basic_string<*:_M_local_buf[]");
        SAY(person, age, "");
        truth_field("shape", "_M_index", sizeof(shape) - 8, 1,
                    "std::variant<*:_M_index "
                    "std::__detail::__variant::_Variant_storage<*:_M_index");
        SHAPE(circle, radius, "_M_u._M_first._M_storage",
              "__impl_.__data.__tail.__head.__value");
        SHAPE(circle, colour, "_M_u._M_first._M_storage",
              "__impl_.__data.__tail.__head.__value");
        SHAPE(box, width, "_M_u._M_rest._M_first._M_storage", "");
        SHAPE(box, height, "_M_u._M_rest._M_first._M_storage", "");
        SHAPE(box, weight, "_M_u._M_rest._M_first._M_storage", "");
        /* The compilers name the closure's type and its members; they lie in the order in
         * which they are captured. */
        truth_field("scaling", "scale", 0, 8, "*:__scale *:scale");
        truth_field("scaling", "shift", 8, 8, "*:__shift *:shift");
        truth_field("scaling", "limit", 16, 8, "*:__limit *:limit");
        truth_field("scaling", "extra", 24, 8, "*:__extra *:extra");
        truth_field("number", "", 0, 8,
                    "long: std::__detail::_Hash_node<*:_M_storage "
                    "std::__1::__hash_node<*:__value_");
}

template <class sales> static void say_sales(const char *site, const sales &all)
{
        for (const sale &s : all)
                truth_object("heap", site, "sale", &s, sizeof(sale), 1, "*");
}

template <class map>
static void say_map(const char *site, const char *type, const map &all)
{
        for (const auto &entry : all)
                truth_object("heap", site, type, &entry, sizeof(entry), 1, "*");
}

/* Where a member lies in an object of its class, which only its address tells. */
template <class object, class member>
static size_t place_in(const object *whole, const member *part)
{
        return (size_t)((const char *)part - (const char *)whole);
}

static void say_machines(const std::vector<machine *> &machines)
{
        const machine *m = machines[0];

        truth_field("machine", "uses", place_in(m, &m->uses), 4, "counted:uses");
        truth_field("machine", "born", place_in(m, &m->born), 8, "counted:born");
        truth_field("machine", "_vptr.named", 16, 8,
                    "machine:_vptr$named named:_vptr.named named:_vptr$named");
        truth_field("machine", "serial", place_in(m, &m->serial), 8, "named:serial");
        truth_field("machine", "power", place_in(m, &m->power), 8, "");
        for (const machine *each : machines)
                truth_object("heap", "make_machines at ", "machine", each, sizeof(*each),
                             1, "*");
}

static void say_terminals(const std::vector<std::unique_ptr<terminal>> &terminals)
{
        const terminal *t = terminals[0].get();

        truth_field("terminal", "keys", place_in(t, &t->keys), 8, "input:keys");
        truth_field("terminal", "pixels", place_in(t, &t->pixels), 8, "output:pixels");
        truth_field("terminal", "speed", place_in(t, &t->speed), 4, "");
        truth_field("terminal", "address", place_in(t, &t->address), 8, "device:address");
        truth_field("terminal", "_vptr.input", 0, 8,
                    "terminal:_vptr$input input:_vptr.input input:_vptr$input");
        for (const auto &each : terminals)
                truth_object("heap", "make_terminals at ", "terminal", each.get(),
                             sizeof(terminal), 1, "*");
}

static void say_accounts(const std::vector<account> &accounts)
{
        const account *a = accounts.data();

        truth_field("account", "paid::amount", place_in(a, &a->paid::amount), 8,
                    "paid:amount");
        truth_field("account", "owed::amount", place_in(a, &a->owed::amount), 8,
                    "owed:amount");
        truth_field("account", "amount", place_in(a, &a->amount), 4, "");
        truth_field("account", "tax", place_in(a, &a->tax), 8,
                    "paid:tax account:paid::tax");
        truth_field("account", "since", place_in(a, &a->since), 8,
                    "owed:since account:owed::since");
        truth_object("heap", "make_accounts at ", "account", a, sizeof(*a), COUNT, "*");
}

/* The types as each of the compilers writes them. */
static void say_records(const std::vector<record> &records)
{
        const record *r = records.data();

        truth_field("record", "long", place_in(r, &r->part<2, long>::value), 8,
                    "parts<*:part<2,~long>::value parts<*:part<2,~long~int>::value "
                    "part<*:value");
        truth_field("record", "double", place_in(r, &r->part<1, double>::value), 8,
                    "parts<*:part<1,~double>::value part<*:value");
        truth_field("record", "short", place_in(r, &r->part<0, short>::value), 2,
                    "parts<*:parts<short>::value parts<*:parts<short~int>::value "
                    "part<*:value");
        truth_object("heap", "make_records at ", "record", r, sizeof(*r), COUNT, "*");
}

static void say_shapes(const std::vector<shape> &shapes)
{
        truth_object("heap", "make_shapes at ", "shape", shapes.data(), sizeof(shape),
                     shapes.size(), "*");
        for (const shape &s : shapes) {
                if (const circle *c = std::get_if<circle>(&s))
                        truth_object("heap", "make_shapes at ", "circle", c, sizeof(*c),
                                     1, "*");
                else if (const box *b = std::get_if<box>(&s))
                        truth_object("heap", "make_shapes at ", "box", b, sizeof(*b), 1,
                                     "*");
        }
}

int main()
{
        truth_open();
        say_fields();
        auto list = make_list();
        auto chain = make_chain();
        auto baskets = make_baskets();
        auto multimap = make_multimap();
        auto set = make_set();
        auto hash = make_hash();
        auto numbers = make_numbers();
        auto shared = make_shared_sales();
        auto owned = make_owned();
        auto shapes = make_shapes();
        auto functions = make_functions();
        auto machines = make_machines();
        auto terminals = make_terminals();
        auto accounts = make_accounts();
        auto records = make_records();
        auto people = make_people();
        auto arena = make_arena();
        auto deque = make_deque(); /* last, as it frees memory while it grows */

        say_sales("make_deque at ", deque);
        say_sales("make_list at ", list);
        say_sales("make_chain at ", chain);
        truth_object("heap", "make_baskets at ", "basket", baskets.data(), sizeof(basket),
                     COUNT, "*");
        say_map("make_multimap at ", "std::pair<long const, sale>", multimap);
        say_sales("make_set at ", set);
        say_map("make_hash at ", "std::pair<long const, sale>", hash);
        for (const long &number : numbers)
                truth_object("heap", "make_numbers at ", "number", &number, 8, 1, "*");
        for (const auto &s : shared)
                truth_object("heap", "make_shared_sales at ", "sale", s.get(),
                             sizeof(sale), 1, "*");
        truth_object("heap", "make_owned at ", "sale", owned.get(), sizeof(sale), COUNT,
                     "*");
        say_shapes(shapes);
        for (const auto &function : functions)
                truth_object("heap", "make_functions at ", "scaling",
                             function.target<scaling>(), sizeof(scaling), 1, "*");
        say_machines(machines);
        say_terminals(terminals);
        say_accounts(accounts);
        say_records(records);
        truth_object("heap", "make_people at ", "person", people.data(), sizeof(person),
                     COUNT, "*");
        say_sales("make_arena at ", arena->sales);
        say_map("make_arena at ", "std::pair<int const, sale>", arena->sorted);
        for (int i = 0; i < ROUNDS; i++) {
                double sum = sum_deque(deque) + sum_chain(chain) +
                             sum_baskets(baskets, i) + sum_multimap(multimap) +
                             sum_shared(shared) + area_of(shapes) +
                             sum_terminals(terminals) + sum_accounts(accounts) +
                             sum_records(records) + sum_arena(*arena);

                for (int j = 0; j < COUNT; j++)
                        sum +=
                            (double)look_up_set(set, j) + look_up_hash(hash, j * 7919L);
                result += (uint64_t)sum;
                result +=
                    (uint64_t)(pick_deque(deque, 3) + sum_list(list) + sum_hash(hash) +
                               sum_numbers(numbers) + sum_owned(owned) +
                               call_all(functions) + ask_machines(machines) +
                               sum_addresses(terminals) + sum_people(people));
        }
        truth_close();
        return 0;
}
