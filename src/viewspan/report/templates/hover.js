const { samples, positions } = JSON.parse(document.getElementById("points").textContent);
for (const [name, points] of Object.entries(positions)) {
  const svg = document.querySelector(`figure.${name} svg`);
  const tip = document.getElementById("tip");
  const reach = 10; // largest distance of a point from the pointer, in units of the SVG
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", 5);

  const nearest = (event) => {
    const pointer = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let found = -1, smallest = reach * reach;
    points.forEach(([x, y], index) => {
      const squared = (x - pointer.x) ** 2 + (y - pointer.y) ** 2;
      if (squared < smallest) { smallest = squared; found = index; }
    });
    return found;
  };

  const hide = () => { tip.hidden = true; ring.remove(); };

  const show = (event) => {
    const found = nearest(event);
    if (found < 0) {
      hide();
      return;
    }
    const [x, y] = points[found];
    const [id, cluster, confidence] = samples[found];
    const name = document.createElement("bdi"); // keeps right-to-left names from reordering the rest
    name.textContent = id === null ? "landmark" : id;
    tip.replaceChildren(name, ` · cluster ${cluster}` + (confidence === null ? "" : ` · confidence ${confidence.toFixed(2)}`));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - box.height - 4))}px`;
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    svg.append(ring);
  };

  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", hide);
  document.addEventListener("scroll", hide, { passive: true });
}
