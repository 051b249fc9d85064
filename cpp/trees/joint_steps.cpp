#include "trees/joint_steps.hpp"

#include <algorithm>

namespace bellcrank {

std::vector<JointStep> steps_of(const TreeJoint& joint) {
    if (joint.formula >= 0) return {{Motion::general}};
    if (joint.pair < 0) return {{Motion::free}};
    std::vector<JointStep> steps;
    for (int i = 0; i < 3; ++i)
        if (joint.slides[i] && joint.screw_axis != i) steps.push_back({Motion::slide, i});
    const size_t slides = steps.size();
    const int axis = axis_of(joint.turning);
    if (joint.turning == Turning::ball)
        steps.push_back({Motion::ball});
    else if (joint.turning == Turning::universal)
        steps.insert(steps.end(), {{Motion::turn, 0, 0}, {Motion::turn, 1, 1}});
    else if (joint.turning >= Turning::swing_x)
        steps.push_back({Motion::swing, axis});
    else if (joint.turning != Turning::none)
        steps.push_back({joint.screw_axis >= 0 ? Motion::screw : Motion::turn, axis});
    if (joint.reversed) {  // slides commute and keep their order
        std::reverse(steps.begin() + slides, steps.end());
        std::rotate(steps.begin(), steps.begin() + slides, steps.end());
    }
    return steps;
}

void enter(const JointStep& step, int coordinate, int speed, JointMap& map) {
    switch (step.motion) {
        case Motion::slide:
            map.slide[step.axis] = coordinate;
            map.slide_speed[step.axis] = speed;
            break;
        case Motion::turn:
        case Motion::screw:
            map.turn[step.number] = coordinate;
            map.turn_speed[step.number] = speed;
            break;
        case Motion::ball:
            map.ball = coordinate;
            map.ball_speed = speed;
            break;
        case Motion::free:
            for (int i = 0; i < 3; ++i) enter({Motion::slide, i}, coordinate + i, speed + i, map);
            enter({Motion::ball}, coordinate + 3, speed + 3, map);
            break;
        case Motion::swing:
            map.swing = coordinate;
            map.swing_speed = speed;
            break;
        case Motion::general:
            map.own.push_back(coordinate);
            map.own_speed.push_back(speed);
            break;
    }
}

}  // namespace bellcrank
