// Places for the nodes of a graph: repulsion between near ones, links as springs. The same graph looks the same.

const ROUNDS = 80;
const CELL = 90;
const REST = 30;

/** Coordinates by id. Nodes far apart do not act on each other, so that thousands are placed within a second. */
export function places(ids, links) {
  const many = ids.length;
  const x = new Float64Array(many), y = new Float64Array(many), dx = new Float64Array(many), dy = new Float64Array(many);
  const number = new Map(ids.map((id, index) => [id, index]));
  walk(ids, links, number).forEach((index, place) => {
    const radius = 22 * Math.sqrt(place + 1);
    x[index] = radius * Math.cos(place * 2.4);
    y[index] = radius * Math.sin(place * 2.4);
  });
  const springs = links.map((link) => [number.get(link.source), number.get(link.target)]);
  for (let round = 0, heat = 20; round < ROUNDS; round += 1, heat *= 0.96) {
    dx.fill(0);
    dy.fill(0);
    repel(x, y, dx, dy, (round * 0.38) % 1);
    for (const [a, b] of springs) {
      const far = Math.hypot(x[b] - x[a], y[b] - y[a]) || 1;
      const pull = ((far - REST) / far) * 0.1;
      dx[a] += (x[b] - x[a]) * pull; dy[a] += (y[b] - y[a]) * pull;
      dx[b] -= (x[b] - x[a]) * pull; dy[b] -= (y[b] - y[a]) * pull;
    }
    for (let index = 0; index < many; index += 1) {
      const speed = Math.hypot(dx[index], dy[index]) || 1;
      const step = Math.min(speed, heat) / speed;
      x[index] += dx[index] * step - x[index] * 0.002;
      y[index] += dy[index] * step - y[index] * 0.002;
    }
  }
  return new Map(ids.map((id, index) => [id, { x: x[index], y: y[index] }]));
}

/** Only nodes of neighbouring cells repel each other; the grid moves every round, or its lines would be seen. */
function repel(x, y, dx, dy, shift) {
  const cells = new Map();
  for (let index = 0; index < x.length; index += 1) {
    const cell = `${Math.floor(x[index] / CELL + shift)} ${Math.floor(y[index] / CELL + shift)}`;
    if (!cells.has(cell)) cells.set(cell, []);
    cells.get(cell).push(index);
  }
  for (const [cell, inside] of cells) {
    const [column, row] = cell.split(" ").map(Number);
    for (let c = column - 1; c <= column + 1; c += 1) {
      for (let r = row - 1; r <= row + 1; r += 1) {
        for (const other of cells.get(`${c} ${r}`) ?? []) {
          for (const index of inside) {
            if (index === other) continue;
            const across = x[index] - x[other] || (index - other) * 0.01, down = y[index] - y[other];
            const push = 900 / (across * across + down * down + 20);
            dx[index] += across * push; dy[index] += down * push;
          }
        }
      }
    }
  }
}

/** The nodes so that linked ones follow each other. */
function walk(ids, links, number) {
  const near = ids.map(() => []);
  for (const link of links) {
    near[number.get(link.source)].push(number.get(link.target));
    near[number.get(link.target)].push(number.get(link.source));
  }
  const seen = new Set(), order = [];
  for (let start = 0; start < ids.length; start += 1) {
    const queue = [start];
    while (queue.length) {
      const index = queue.pop();
      if (seen.has(index)) continue;
      seen.add(index);
      order.push(index);
      queue.push(...near[index]);
    }
  }
  return order;
}
