// The chapters of the guide, in order. A chapter is one file and one line here.
import spring from './spring.js';

export const chapters = [spring];
