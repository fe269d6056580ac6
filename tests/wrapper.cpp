// brio.hpp as a program of C++17 uses it: handles, exceptions, a world without files, a scene.
#include <brio/brio.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

static void expect(bool holds, const char *what)
{
    std::printf("%s %s\n", holds ? "ok  " : "FAIL", what);
    if (!holds) std::exit(1);
}

static brio::Sim world()
{
    brio::Builder builder;
    brio::Mesh box = brio::Mesh::shape("box", {{"size", {0.2, 0.2, 0.2}}, {"cells", {2, 2, 2}}});
    brio::Material jelly = brio::Material("stable-neo-hookean").set("E", 2e4).set("rho", 500);
    builder.contact();
    builder.body("jelly", box, jelly, {0, 0.2, 0});
    builder.plane({0, 0, 0}, {0, 1, 0}, "floor");
    return builder.sim("backward-euler", 1.0 / 60); // builder, mesh and material go
}

template <class Function> static std::string refused(Function function)
{
    try {
        function();
    } catch (const brio::Error &error) {
        return error.what();
    } catch (const std::out_of_range &error) {
        return error.what();
    }
    return "";
}

int main()
{
    brio::Sim sim = world();
    for (int i = 0; i < 60; i++) sim.step();
    std::vector<double> x = sim.positions(sim.body("jelly"));
    double lowest = x[1];
    for (size_t i = 1; i < x.size(); i += 3) lowest = std::fmin(lowest, x[i]);
    expect(lowest > 0 && lowest < 0.01, "the body lies on the floor");
    expect(std::fabs(sim.time() - 1) < 1e-12 && sim.ledger().step == 60, "time and ledger");

    struct Vertex {
        float position[3], normal[3];
    };
    std::vector<Vertex> drawn(size_t(brio_body_drawn_vertices(brio_sim_system(sim.get()), 0)));
    BrioVertexBuffers to{};
    to.position_float = drawn[0].position, to.normal_float = drawn[0].normal;
    to.stride = sizeof(Vertex);
    sim.draw(0, to);
    expect(drawn[0].normal[0] != 0 || drawn[0].normal[1] != 0, "buffers to draw from");

    for (double &v : x) v += 0.5;
    sim.set_positions(0, x);
    expect(std::fabs(sim.positions(0)[0] - x[0]) < 1e-12, "positions that were set");
    brio::Sim moved = std::move(sim);
    expect(!sim.get() && moved.bodies() == 1, "a simulation can be moved");

    brio::Sim cloth = brio::Sim::load("cloth");
    cloth.step(0.001);
    expect(cloth.time() == 0.001, "a scene that ships");
    brio::Sim parsed = brio::Sim::parse("bodies: [{shape: {type: line, length: 1, cells: 2}, "
                                        "material: {type: hooke, vertex_mass: 1}}]");
    parsed.step();

    std::string words = refused(
        [] { brio::Sim::parse("bodies: [{shape: {type: bax}, material: {type: hooke}}]"); });
    expect(words.find("did you mean \"box\"?") != std::string::npos, words.c_str());
    words = refused([] { brio::Material("rubbish"); });
    expect(!words.empty(), words.c_str());
    words = refused([] { brio::Mesh::shape("box", {{"sighs", {1, 1, 1}}}); });
    expect(!words.empty(), words.c_str());
    words = refused([] { brio::Mesh::shape("box", {{"size", {0.1}}}); });
    expect(words.find("nan") != std::string::npos, words.c_str());
    words = refused([] { brio::Mesh::shape("bax", {{"size", {1, 1, 1}}}); });
    expect(words.find("\"bax\"") != std::string::npos, words.c_str());
    words = refused([&] { cloth.positions(7); });
    expect(!words.empty(), words.c_str());
    words = refused([] { brio::Builder().sim("nothing", 0.01); });
    expect(!words.empty(), words.c_str());
    std::puts("The end");
}
