/** Modules by path: those of one test file, and those that all test files of a worker share. */
class ModuleRegistry extends Map {
  #shared;
  #isShared;

  /**
   * @param shared modules of the worker
   * @param isShared returns true for the path of a module that the worker keeps
   */
  constructor(shared, isShared) {
    super();
    this.#shared = shared;
    this.#isShared = isShared;
  }

  get(path) {
    return super.get(path) ?? this.#shared.get(path);
  }

  has(path) {
    return super.has(path) || this.#shared.has(path);
  }

  set(path, module) {
    if (this.#isShared(path)) this.#shared.set(path, module);
    else super.set(path, module);
    return this;
  }

  delete(path) {
    return super.delete(path) || this.#shared.delete(path);
  }
}

/** Methods of exported classes and functions, as they were just after their module was loaded. */
class LoadedMethods {
  #methods = new Map();

  record(exports) {
    for (const value of Object.values(exports)) {
      if (typeof value !== 'function' || this.#methods.has(value)) continue;
      this.#recordOwner(value);
      if (value.prototype) this.#recordOwner(value.prototype);
    }
  }

  #recordOwner(owner) {
    const properties = Object.entries(Object.getOwnPropertyDescriptors(owner));
    const methods = properties.filter(([, { value }]) => typeof value === 'function');
    this.#methods.set(owner, methods);
  }

  /** Returns the name of a method that was replaced after loading, or null. */
  findChanged() {
    for (const [owner, methods] of this.#methods) {
      const changed = methods.find(
        ([name, { value }]) => Object.getOwnPropertyDescriptor(owner, name)?.value !== value,
      );
      if (changed !== undefined) return `${(owner.constructor ?? owner).name}.${changed[0]}`;
    }
    return null;
  }
}

/** Modules that the test files of a worker share. */
class SharedModules {
  byPath = new Map();
  methods = new LoadedMethods();
  /** Runtime of the test file that runs now. */
  runtime = null;
}

module.exports = { ModuleRegistry, SharedModules };
