// SPDX-License-Identifier: Apache-2.0
// Runs in the browser, on a built page whose window is 1280 x 720: what an audience could not read. Returns the ids
// of the slides and, for those with faults, sentences by id.
(limits) => {
  const faults = {};
  const shorten = (text) => `"${text.trim().replace(/\s+/g, ' ').slice(0, 40)}"`;
  const lightness = (colour) => {
    const [r, g, b] = colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [lightness(one), lightness(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const rgba = (colour) => {
    const canvas = (rgba.canvas ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }));
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  /** Colours laid over each other, the uppermost first, down to the first opaque one. */
  const blended = (colours) => {
    let [red, green, blue] = [255, 255, 255];
    const opaque = colours.findIndex(([, , , alpha]) => alpha === 255);
    for (const [r, g, b, alpha] of colours.slice(0, opaque < 0 ? undefined : opaque + 1).reverse()) {
      const part = alpha / 255;
      [red, green, blue] = [r * part + red * (1 - part), g * part + green * (1 - part), b * part + blue * (1 - part)];
    }
    return [red, green, blue];
  };
  const within = (inner, outer) =>
    inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  const inset = (box, by) => ({ left: box.left + by, right: box.right - by, top: box.top + by, bottom: box.bottom - by });
  /** A line's box holds room for accents and descenders of all scripts; this is about where its ink is. */
  const inked = ({ left, right, top, bottom }) => ({ left, right, top: top + (bottom - top) * 0.2, bottom: bottom - (bottom - top) * 0.2 });
  const overlap = (a, b, tolerance) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > tolerance && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > tolerance;

  const textsOf = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || element.closest('style, script, title, desc, defs, .katex-mathml, mjx-assistive-mml')) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      texts.push({ element, words: walker.currentNode.data, boxes: [...range.getClientRects()].filter(({ width, height }) => width && height) });
    }
    return texts;
  };

  const checkBoxes = (section, say) => {
    const slide = section.getBoundingClientRect();
    const safe = { ...inset(slide, limits.margin), bottom: slide.bottom - limits.foot };
    for (const { element, words, boxes } of textsOf(section)) {
      if (!boxes.every((box) => within(box, element.closest('.source') ? slide : safe))) say(`${shorten(words)} comes too near to the slide's edge, or leaves it.`);
    }
    for (const element of section.querySelectorAll('*')) {
      const box = element.getBoundingClientRect();
      if (element.matches('img, svg, table, pre') && !element.closest('mjx-container') && !within(box, safe)) {
        say(`A ${element.localName} leaves the slide.`);
      }
      const clips = getComputedStyle(element).overflow !== 'visible';
      if (clips && (element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1)) {
        say(`A ${element.localName} cuts off what it holds: ${shorten(element.textContent)}.`);
      }
    }
    for (const parent of [section, ...section.querySelectorAll('.columns > div')]) {
      const blocks = [...parent.children].filter((child) => child.textContent.trim() || child.querySelector('img'));
      blocks.slice(1).forEach((block, i) => {
        if (overlap(blocks[i].getBoundingClientRect(), block.getBoundingClientRect(), 1)) {
          say(`${shorten(block.textContent) || 'A picture'} lies upon ${shorten(blocks[i].textContent) || 'a picture'}.`);
        }
        // What a block of a limited height can't hold lies upon the next one as well.
        if (blocks[i].scrollHeight > blocks[i].clientHeight + 2 && blocks[i].matches('div.columns')) say('The columns hold more than fits.');
      });
    }
    if (section.scrollHeight > section.clientHeight + 1) say(`The slide is ${section.scrollHeight - section.clientHeight} pixels too full.`);
  };

  const checkText = ({ element, words }, smallest, scale, beneath, say) => {
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize) * scale;
    if (size < smallest - 0.5) say(`${shorten(words)} is ${size.toFixed(0)} pixels high; the back row needs ${smallest}.`);
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    const ratio = contrast(blended([ink, ...beneath]), blended(beneath));
    if (ratio < limits.contrast) say(`${shorten(words)} has a contrast of ${ratio.toFixed(1)} to what is behind it; ${limits.contrast} is needed.`);
  };

  /** The share of a slide's height on which nothing stands, between its heading and its foot. */
  const checkEmptiness = (section, say) => {
    const slide = section.getBoundingClientRect();
    const rows = [...section.querySelectorAll('h1, h2, p, li, tr, pre, img')].map((element) => element.getBoundingClientRect())
      .concat(textsOf(section).flatMap(({ boxes }) => boxes)).map(({ top, bottom }) => [Math.max(top, slide.top), Math.min(bottom, slide.bottom - limits.foot)])
      .filter(([top, bottom]) => bottom > top).sort((a, b) => a[0] - b[0]);
    let [filled, below] = [0, slide.top];
    for (const [top, bottom] of rows) {
      filled += Math.max(0, bottom - Math.max(top, below)) + Math.min(limits.spacing, Math.max(0, top - below));
      below = Math.max(below, bottom);
    }
    const empty = 1 - filled / (slide.height - limits.foot);
    if (empty > limits.empty) say(`It is empty on ${Math.round(100 * empty)} % of its height; ${Math.round(100 * limits.empty)} % may be. A picture, larger type, or another slide's text?`);
  };

  const backgroundsOf = (element) => {
    const colours = [];
    for (let at = element; at; at = at.parentElement) colours.push(rgba(getComputedStyle(at).backgroundColor));
    return colours;
  };

  const bodySize = (section, say) => {
    const body = textsOf(section).filter(({ element }) => element.matches('p, p *, li, li *') && !element.closest('code, pre, sup, sub'));
    for (const { element, words } of body) {
      const size = parseFloat(getComputedStyle(element).fontSize);
      if (size < limits.bodyText - 0.5) say(`${shorten(words)} is body text of ${size.toFixed(0)} pixels; the back row needs ${limits.bodyText}.`);
    }
  };

  /** A picture is an image of its own: it is opened here, where it is shown, to see its texts. */
  const checkPicture = (image, say) => {
    const box = image.getBoundingClientRect();
    if (!image.naturalWidth) return say(`The picture "${image.alt}" can't be drawn: its SVG is broken.`);
    const host = document.body.appendChild(document.createElement('div'));
    host.style = 'position: fixed; left: 0; top: 0; z-index: 1000';
    const shadow = host.attachShadow({ mode: 'open' });
    shadow.innerHTML = new TextDecoder().decode(Uint8Array.from(atob(image.src.split(',')[1]), (c) => c.charCodeAt(0)));
    const svg = shadow.querySelector('svg');
    Object.assign(svg.style, { display: 'block', width: `${box.width}px`, height: `${box.height}px` });
    const scale = svg.getScreenCTM().a;
    const view = svg.viewBox.baseVal;
    const drawn = new DOMPoint(view.x, view.y).matrixTransform(svg.getScreenCTM());
    const frame = { left: drawn.x, top: drawn.y, right: drawn.x + view.width * scale, bottom: drawn.y + view.height * scale };
    const texts = textsOf(svg).filter(({ boxes }) => boxes.length);
    texts.forEach((text, i) => {
      const [{ left, right, top, bottom }] = text.boxes;
      const smallest = text.element.closest('.source') ? limits.sourceText : limits.text;
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      const shapes = shadow.elementsFromPoint(x, y).filter((shape) => svg.contains(shape) && !shape.closest('text') && shape instanceof SVGGeometryElement);
      const beneath = shapes.map((shape) => ({ shape, style: getComputedStyle(shape) })).filter(({ style }) => style.fill !== 'none')
        .map(({ style }) => { const [r, g, b, a] = rgba(style.fill); return [r, g, b, a * style.fillOpacity * style.opacity]; });
      checkText(text, smallest, scale, [...beneath, ...backgroundsOf(image)], (fault) => say(`Picture "${image.alt}": ${fault}`));
      if (!within(inked(text.boxes[0]), frame)) say(`Picture "${image.alt}": ${shorten(text.words)} leaves the picture.`);
      for (const other of texts.slice(0, i)) {
        const same = other.element.closest('text') === text.element.closest('text');
        if (!same && overlap(inked(other.boxes[0]), inked(text.boxes[0]), limits.textOverlap)) {
          say(`Picture "${image.alt}": ${shorten(text.words)} lies upon ${shorten(other.words)}.`);
        }
      }
    });
    host.remove();
  };

  const shown = [];
  for (const section of document.querySelectorAll('section[data-theme]')) {
    const { id } = section.querySelector(':scope > div[id]');
    shown.push(id);
    const say = (fault) => (faults[id] ??= new Set()).add(fault);
    checkBoxes(section, say);
    bodySize(section, say);
    if (!section.matches('.title, .section')) checkEmptiness(section, say);
    for (const text of textsOf(section)) checkText(text, text.element.closest('.source') ? limits.sourceText : limits.text, 1, backgroundsOf(text.element), say);
    for (const image of section.querySelectorAll('img')) checkPicture(image, say);
  }
  return { shown, faults: Object.fromEntries(Object.entries(faults).map(([id, sentences]) => [id, [...sentences]])) };
};
