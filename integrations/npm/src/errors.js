// What the engine refuses is thrown as a BrioError, with the engine's own sentence.
export class BrioError extends Error {
  constructor(
    message,
    { status = 'ERROR_ARGUMENT', path = '', file = '', line = 0, column = 0, cause } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BrioError';
    Object.assign(this, { status, path, file, line, column });
  }
}

export const refuse = (message, path = '') => {
  throw new BrioError(path ? `${path}: ${message}` : message, { path });
};

// A value in a sentence.
export const said = (value) => {
  if (value === null) return 'null';
  if (typeof value === 'string')
    return `"${value.length > 60 ? value.slice(0, 57) + '...' : value}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name}`;
  return (
    { undefined: 'nothing', object: 'an object', function: 'a function' }[typeof value] ??
    `a ${typeof value}`
  );
};

export const number = (value, what) => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    refuse(`expected a finite number, found ${said(value)}`, what);
  return value;
};

export const whole = (value, what, least = 0, most = 2 ** 31 - 1) => {
  if (!Number.isInteger(value) || value < least || value > most)
    refuse(`expected an integer from ${least} to ${most}, found ${said(value)}`, what);
  return value;
};

export const string = (value, what) => {
  if (typeof value !== 'string') refuse(`expected a string, found ${said(value)}`, what);
  return value;
};

export const isList = (value) =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

// Three numbers: a list, a typed array, or an object with x, y and z, as the vectors of three.js.
export const vector = (value, what) => {
  const list =
    value && typeof value === 'object' && 'x' in value ? [value.x, value.y, value.z] : value;
  if (!isList(list) || list.length !== 3)
    refuse(`expected three numbers, found ${said(value)}`, what);
  for (let k = 0; k < 3; k++) number(list[k], `${what}[${k}]`);
  return list;
};

// Options of a call: an object, or nothing.
export const settings = (value = {}, example = 'options') => {
  if (value === null || typeof value !== 'object' || isList(value))
    refuse(`expected ${example}, found ${said(value)}`);
  return value;
};
