// brio for C++17: handles that free themselves, and exceptions instead of statuses. Header only.
//
//     brio::Builder builder;
//     brio::Material soft = brio::Material("neo-hookean").set("E", 2e4);
//     int jelly = builder.body("jelly", brio::Mesh::shape("box"), soft);
//     builder.plane({0, -1, 0}, {0, 1, 0});
//     brio::Sim sim = builder.sim("backward-euler", 1.0 / 60);
//     sim.step();
//     std::vector<double> x = sim.positions(jelly);
//
// What is not wrapped is there through get(): every function of brio.h takes it. Objects can be
// moved, not copied. A simulation is for one thread at a time. Licence: MIT.
#ifndef BRIO_BRIO_HPP
#define BRIO_BRIO_HPP

#include "brio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace brio {
using Vector = std::array<double, 3>;

/// What a call was rejected for, or what a step could not do: `status` and where in a file.
class Error : public std::runtime_error {
public:
    Error(BrioStatus outcome, const BrioError &found)
        : std::runtime_error(text(outcome, found)), status(outcome), error(found) {}
    BrioStatus status;
    BrioError error;

private:
    static std::string text(BrioStatus outcome, const BrioError &found) {
        char words[2048];
        if (!found.message[0]) return brio_status_text(outcome);
        brio_error_text(&found, words, sizeof words);
        return words;
    }
};

/// Calls a function whose last argument is a BrioError, and throws what it refuses.
template <class Function, class... Arguments>
void check(Function function, Arguments... arguments) {
    BrioError error{};
    BrioStatus status = function(arguments..., &error);
    if (status != BRIO_OK) throw Error(status, error);
}

/// The same for functions that make something, through a pointer before the error.
template <class T, class Function, class... Arguments>
T *make(Function function, Arguments... arguments) {
    T *made = nullptr;
    check(function, arguments..., &made);
    return made;
}

/// Owns an object of C; get() is for all functions of brio.h.
template <class T, void (*Free)(T *)> class Handle {
public:
    explicit Handle(T *object) : owned(object) {}
    T *get() const { return owned.get(); }

private:
    struct Deleter {
        void operator()(T *object) const { Free(object); }
    };
    std::unique_ptr<T, Deleter> owned;
};

/// A mesh of a file or of a named shape.
struct Mesh : Handle<BrioMesh, brio_mesh_free> {
    using Values = std::vector<std::pair<const char *, std::vector<double>>>;
    using Handle::Handle;
    static Mesh read(const char *file) { return Mesh(make<BrioMesh>(brio_mesh_read, file)); }
    /// Parameters by name, three numbers for a vector: {{"size", {0.1, 0.1, 0.1}}}.
    static Mesh shape(const char *name, const Values &values = {}) {
        double all[BRIO_MAX_VALUES] = {};
        const BrioField *fields = brio_shape_fields(name);
        if (fields) brio_fields_defaults(fields, all);
        for (auto [field, value] : fields ? values : Values()) {
            value.resize(BRIO_MAX_VALUES, NAN); // what is missing is rejected
            check(brio_fields_set, fields, all, field, value.data());
        }
        return Mesh(make<BrioMesh>(brio_mesh_shape, name, all));
    }
};

/// A material or preset with its values: Material("neo-hookean").set("E", 1e5).
struct Material : BrioMaterial {
    explicit Material(const char *name) { check(brio_default_material, name, this); }
    Material &set(const char *name, double value) {
        check(brio_material_set, this, name, value);
        return *this;
    }
};

/// A simulation: of a scene, or of a Builder.
class Sim : public Handle<BrioSim, brio_sim_free> {
public:
    using Handle::Handle;
    static Sim load(const char *scene) {
        BrioSource source = brio_default_source();
        source.name = scene;
        return Sim(make<BrioSim>(brio_sim_open, &source));
    }
    static Sim parse(const std::string &text, const char *name = "scene") {
        return Sim(make<BrioSim>(brio_sim_parse, text.data(), text.size(), name));
    }
    void step() { check(brio_sim_step, get()); }
    void step(double h) { check(brio_sim_step_by, get(), h); }
    void settle() { check(brio_sim_settle, get()); }
    double time() const { return brio_sim_time(get()); }
    const BrioSystem *system() const { return brio_sim_system(get()); }
    int bodies() const { return brio_system_bodies(system()); }
    int body(const char *name) const { return brio_system_body(system(), name); }
    int obstacle(const char *name) const { return brio_system_obstacle(system(), name); }
    /// x, y, z of each vertex.
    std::vector<double> positions(int body) const { return read(brio_sim_positions, body); }
    std::vector<double> velocities(int body) const { return read(brio_sim_velocities, body); }
    void set_positions(int body, const std::vector<double> &x) {
        write(brio_sim_set_positions, body, x);
    }
    void set_velocities(int body, const std::vector<double> &v) {
        write(brio_sim_set_velocities, body, v);
    }
    /// What a renderer takes: positions and normals into buffers of yours (edit.h).
    void draw(int body, const BrioVertexBuffers &to) { check(brio_sim_draw, get(), body, &to); }
    void move_obstacle(int obstacle, const std::array<double, 9> &linear, const Vector &translate) {
        check(brio_sim_move_obstacle, get(), obstacle, linear.data(), translate.data());
    }
    BrioLedger ledger() const {
        BrioLedger now{};
        if (BrioStatus status = brio_sim_ledger(get(), &now)) throw Error(status, BrioError{});
        return now;
    }

private:
    size_t size(int body) const { return 3 * size_t(brio_body_vertices(system(), body)); }
    template <class Function> std::vector<double> read(Function function, int body) const {
        std::vector<double> x(size(body));
        if (x.empty()) throw std::out_of_range("brio: there is no such body");
        function(get(), body, x.data());
        return x;
    }
    template <class Function>
    void write(Function function, int body, const std::vector<double> &x) {
        if (x.size() != size(body))
            throw std::out_of_range("brio: expected three numbers for each vertex of the body");
        check(function, get(), body, x.data());
    }
};

/// Puts a simulation together without files. It is done when `sim` has been called.
struct Builder : Handle<BrioBuilder, brio_builder_free> {
    Builder() : Handle(make<BrioBuilder>(brio_builder_create)) { gravity({0, -9.8, 0}); }
    void gravity(const Vector &g) { brio_builder_gravity(get(), g.data()); }
    void contact(const BrioContactDef &def = brio_default_contact()) {
        brio_builder_contact(get(), &def);
    }
    int body(const BrioBodyDef &def) {
        int number = -1;
        check(brio_builder_body, get(), &def, &number);
        return number;
    }
    int body(const char *name, const Mesh &mesh, const Material &material, const Vector &at = {}) {
        BrioBodyDef def = brio_default_body();
        def.name = name, def.mesh = mesh.get(), def.material = material;
        std::copy(at.begin(), at.end(), def.translate);
        return body(def);
    }
    void fix(int body, const std::vector<int32_t> &vertices) {
        check(brio_builder_fix, get(), body, vertices.data(), int64_t(vertices.size()),
              static_cast<const BrioScript *>(nullptr));
    }
    void plane(const Vector &point, const Vector &normal, const char *name = nullptr) {
        check(brio_builder_plane, get(), name, point.data(), normal.data());
    }
    void obstacle(const BrioObstacleDef &def) { check(brio_builder_obstacle, get(), &def); }
    void force(const BrioForceDef &def) { check(brio_builder_force, get(), &def); }
    Sim sim(const BrioSimDef &def) {
        BrioSystem *system = nullptr;
        BrioState *state = nullptr;
        check(brio_builder_finish, get(), &system, &state);
        return Sim(make<BrioSim>(brio_sim_create, system, state, &def));
    }
    Sim sim(const char *integrator, double h) {
        BrioSimDef def = brio_default_sim(integrator);
        def.h = h;
        return sim(def);
    }
};

} // namespace brio
#endif
