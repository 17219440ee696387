// SPDX-License-Identifier: MIT
//
// dh_view.js - print what valgrind's viewer shows of a DHAT file, as text
//
// usage: node dh_view.js VIEWER FILE [METRIC]
//
// VIEWER is valgrind's script of the same name.  Of a browser's document it
// uses only nested elements and text, which this script implements.  METRIC is
// one of the viewer's menu, by which it sorts: "Total (bytes)", the default,
// "At t-gmax (bytes)".
"use strict";
const fs = require("fs");
const vm = require("vm");

function element(tag) {
	return {
		tag, childNodes: [], selectedIndex: 0,
		classList: { add() {}, remove() {}, contains: () => false },
		appendChild(child) {
			this.childNodes.push(child);
			child.parentNode = this;
		},
		replaceChild(now, then) {
			this.childNodes[this.childNodes.indexOf(then)] = now;
			now.parentNode = this;
		},
		replaceWith(now) { this.parentNode.replaceChild(now, this); },
		cloneNode: () => element(tag),
	};
}

function textOf(node) {
	return node.textContent !== undefined ? node.textContent
		: node.childNodes.map(textOf).join("");
}

const body = element("body");
const document = {
	body, title: "", location: { search: "" },
	createElement: element,
	createTextNode: (textContent) => ({ textContent }),
};
const context = vm.createContext({
	document, console, URLSearchParams, performance, body,
});

vm.runInContext(fs.readFileSync(process.argv[2], "utf8"), context);
context.text = fs.readFileSync(process.argv[3], "utf8");
context.metric = process.argv[4] || "Total (bytes)";
vm.runInContext(`
	onLoad();
	gFilename = "file";
	gData = JSON.parse(text);
	gSelect.selectedIndex =
		gSelectData.findIndex((data) => data.label() === metric);
	buildTree();
	displayTree(0, 0, 0);
	page = gMainDiv;
`, context);
console.log(textOf(context.page));
