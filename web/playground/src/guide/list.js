// The chapters of the guide, in order. A chapter is one file and one line here.
import spring from './spring.js';
import stiffness from './stiffness.js';
import minimum from './minimum.js';
import damping from './damping.js';
import energy from './energy.js';
import momentum from './momentum.js';
import contact from './contact.js';
import realtime from './realtime.js';

export const chapters = [spring, stiffness, minimum, damping, energy, momentum, contact, realtime];
