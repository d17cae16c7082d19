const { samples, places } = JSON.parse(document.getElementById("points").textContent);
for (const [name, points] of Object.entries(places)) {
  const svg = document.querySelector(`figure.${name} svg`);
  const tip = document.getElementById("tip");
  const reach = 10; // units of the picture: farther points are not meant
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", 5);

  const nearest = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let found = -1, least = reach * reach;
    points.forEach(([x, y], number) => {
      const distance = (x - place.x) ** 2 + (y - place.y) ** 2;
      if (distance < least) { least = distance; found = number; }
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
    const whose = id === null ? "a landmark" : id;
    const name = document.createElement("bdi"); // so that the direction of its letters stays with it
    name.textContent = whose;
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
