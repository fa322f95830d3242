/** Random is a seeded source (mulberry32), so that a run can be repeated. */
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** next returns a number in [0, 1). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** around returns a time with this mean, between half of it and one and a half times it. */
  around(mean) {
    return mean * (0.5 + this.next());
  }

  /** pick returns one key of weights such as { code: 5, done: 3 }. */
  pick(weights) {
    const entries = Object.entries(weights);
    let at = this.next() * entries.reduce((sum, [, w]) => sum + w, 0);
    for (const [name, weight] of entries) if ((at -= weight) < 0) return name;
    return entries[0][0];
  }
}
